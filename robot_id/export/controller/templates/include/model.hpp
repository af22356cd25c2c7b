// The identified model of @ROBOT_C@ under the names that the core calls.
#ifndef @GUARD@__MODEL_HPP_
#define @GUARD@__MODEL_HPP_

#include <cstddef>

#include "@PREFIX@_model.h"

namespace @PACKAGE@
{
namespace model
{

inline constexpr std::size_t joints = @PREFIX_UPPER@_JOINTS;
inline constexpr const char * robot = @ROBOT_CPP@;

/// Base parameters of bodies, rotors and offsets; those of friction are zero.
inline constexpr double without_friction[@PREFIX_UPPER@_PARAMETERS] = {
  @WITHOUT_FRICTION@};

/// Joints that a motor turns together have the same number.
inline constexpr std::size_t group[@N@] = {@GROUPS@};

inline void torque(const double * q, const double * dq, const double * ddq, double * tau)
{
  @PREFIX@_inverse_dynamics(q, dq, ddq, tau);
}

inline void torque_without_friction(
  const double * q, const double * dq, const double * ddq, double * tau)
{
  @PREFIX@_inverse_dynamics_with(without_friction, q, dq, ddq, tau);
}

/// M, @N@ x @N@ row by row.
inline void inertia_matrix(const double * q, double * M)
{
  @PREFIX@_inertia_matrix(q, M);
}

inline void bias(const double * q, const double * dq, double * tau)
{
  @PREFIX@_bias(q, dq, tau);
}

/// Returns 0, or 1 where the inertia matrix is not positive definite.
inline int direct_dynamics(const double * q, const double * dq, const double * tau, double * ddq)
{
  return @PREFIX@_direct_dynamics(q, dq, tau, ddq);
}

}  // namespace model
}  // namespace @PACKAGE@

#endif  // @GUARD@__MODEL_HPP_
