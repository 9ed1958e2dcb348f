// Quantiles and probabilities of the distributions the laboratory needs, by Boost.Math.
//
// Errors don't throw: outside their domain the functions give NaN (Boost's errno policy).
#pragma once

namespace tare::lab {

double normal_quantile(double p);
double normal_cdf(double x);
double student_quantile(double p, double degrees);
double binomial_cdf(int k, int n, double p);  // P(X <= k)

}  // namespace tare::lab
