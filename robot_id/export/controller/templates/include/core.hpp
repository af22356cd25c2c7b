// The controller without ROS: from measured state and reference to commands.
//
// Nothing here allocates, locks, waits, throws or prints.
#ifndef @GUARD@__CORE_HPP_
#define @GUARD@__CORE_HPP_

#include <array>
#include <cstdint>

#include "@PACKAGE@/model.hpp"

namespace @PACKAGE@
{

using Joints = std::array<double, model::joints>;

enum class Mode : std::uint8_t
{
  gravity_compensation,  ///< effort: what holds the arm where it is; a hand moves it
  feed_forward,          ///< position as the reference, effort: what the model needs to follow it
  computed_torque,       ///< effort: M(q) (ddq_r + kd (dq_r - dq) + kp (q_r - q)) + N(q, dq)
};

enum class Status : std::uint8_t
{
  running,
  ramping,         ///< on the way from the pose and the effort of the activation
  holding,         ///< no reference, an old one, or one too far away: stopped and held
  state_missing,   ///< the state is not usable: the last command, for state_timeout at most
  fault,           ///< no usable state for longer: effort 0 until the next activation
};

const char * text_of(Status status);

/// SI units on the joint side.
struct Settings
{
  Mode mode = Mode::gravity_compensation;
  Joints kp{};                      ///< 1/s^2
  Joints kd{};                      ///< 1/s
  Joints torque_limit{};            ///< N.m or N, of the whole effort command
  double friction_scale = 0.7;      ///< part of the friction that is compensated, 0 to 1
  double ramp = 1.0;                ///< s, from activation to full effort and reference
  double state_timeout = 0.01;      ///< s
  double reference_timeout = 0.1;   ///< s
  double stop_time = 0.1;           ///< s, time constant of the stop when the reference is lost
  double reference_tolerance = 0.5; ///< rad or m, reference to measured position
  double observer_gain = 20.0;      ///< 1/s, of the external torque estimate
};

struct Measured
{
  Joints position{}, velocity{};
  Joints effort{};
  bool has_effort = false;  ///< else the last command stands for it
};

/// Velocities and accelerations that are not numbers count as 0.
struct Reference
{
  Joints position{}, velocity{}, acceleration{};
};

struct Command
{
  Joints position{}, effort{};
};

/// What an observer outside of the loop is told.
struct Report
{
  Status status = Status::holding;
  bool limited = false;       ///< an effort stood at its limit
  Joints position_error{};    ///< reference in use - measured
  Joints velocity_error{};
  Joints effort{};            ///< command
  Joints predicted{};         ///< effort of the model along the reference, friction included
  Joints measured{};          ///< measured effort, or the last command
  Joints external{};          ///< external torque, from the momentum
};

class Core
{
public:
  /// Starts from a pose and from the efforts that the joints get now (0 where unknown).
  void activate(const Measured & measured, const Joints & effort_before);

  /// One step.
  ///
  /// @param reference_age s since this reference was new.
  /// @param dt s since the last step.
  Status update(
    const Settings & settings, const Measured & measured, const Reference & reference,
    double reference_age, double dt, Command & command);

  const Report & report() const {return report_;}

private:
  bool usable(const Measured & measured) const;
  void follow(
    const Settings & settings, const Measured & measured, const Reference & reference,
    double reference_age, double dt);
  void observe(const Settings & settings, const Measured & measured, double dt);

  Joints held_{}, held_velocity_{};   // where the arm is held without a reference
  Reference used_{};                  // the reference that the commands follow
  bool following_ = false;
  double since_reference_ = 0.0, since_activation_ = 0.0, without_state_ = 0.0;
  bool fault_ = false;
  Joints effort_before_{}, last_position_{}, last_velocity_{};
  Command last_{};
  Joints expected_momentum_{};
  std::array<double, model::joints * model::joints> last_inertia_{};
  bool observing_ = false;
  Report report_{};
};

/// The friction that a motion meets, where it resists the commanded velocity; else 0.
///
/// Joints that share a motor are taken together: what its friction takes from them as a whole.
void resisting_friction(const Joints & q, const Joints & dq, const Joints & ddq, Joints & tau);

}  // namespace @PACKAGE@

#endif  // @GUARD@__CORE_HPP_
