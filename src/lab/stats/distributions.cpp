// The one file that includes Boost.Math: it takes seconds to compile.
#include "lab/stats/distributions.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#pragma GCC diagnostic pop

namespace tare::lab {

namespace {
namespace p = boost::math::policies;
using Policy =
    p::policy<p::domain_error<p::errno_on_error>, p::pole_error<p::errno_on_error>,
              p::overflow_error<p::errno_on_error>, p::evaluation_error<p::errno_on_error>, p::promote_double<false>>;
}  // namespace

double normal_quantile(double q) { return quantile(boost::math::normal_distribution<double, Policy>(), q); }

double normal_cdf(double x) { return cdf(boost::math::normal_distribution<double, Policy>(), x); }

double student_quantile(double q, double degrees) {
  return quantile(boost::math::students_t_distribution<double, Policy>(degrees), q);
}

double binomial_cdf(int k, int n, double probability) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return cdf(boost::math::binomial_distribution<double, Policy>(n, probability), k);
}

}  // namespace tare::lab
