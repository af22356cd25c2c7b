// The controller as a plugin of ros2_control.
#ifndef @GUARD@__CONTROLLER_HPP_
#define @GUARD@__CONTROLLER_HPP_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "trajectory_msgs/msg/joint_trajectory.hpp"

#include "@PACKAGE@/controller_parameters.hpp"
#include "@PACKAGE@/core.hpp"
#include "@PACKAGE@/exchange.hpp"

namespace @PACKAGE@
{

class Controller : public controller_interface::ChainableControllerInterface
{
public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::CallbackReturn on_configure(
    const rclcpp_lifecycle::State & previous) override;
  controller_interface::CallbackReturn on_activate(
    const rclcpp_lifecycle::State & previous) override;
  controller_interface::CallbackReturn on_deactivate(
    const rclcpp_lifecycle::State & previous) override;

  /// Of the last update; between updates only.
  const Report & report() const {return core_.report();}

protected:
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override;
  controller_interface::return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;
  controller_interface::return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  bool measure(Measured & measured) const;
  bool write(const Command & command);
  std::optional<Settings> settings() const;
  void receive(const trajectory_msgs::msg::JointTrajectory & message);
  void publish();

  std::shared_ptr<ParamListener> listener_;
  Params parameters_;
  Core core_;
  Settings settings_;
  double reference_age_ = 0.0;
  bool position_commands_ = false, effort_states_ = false;

  // Between the control loop and the rest of the node.
  Exchange<Settings> new_settings_;
  Exchange<Reference> new_reference_;
  Exchange<Report> new_report_;

  rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>::SharedPtr subscription_;
  rclcpp::Publisher<sensor_msgs::msg::JointState>::SharedPtr residual_, tracking_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr diagnostics_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace @PACKAGE@

#endif  // @GUARD@__CONTROLLER_HPP_
