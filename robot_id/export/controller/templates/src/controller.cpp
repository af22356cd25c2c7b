#include "@PACKAGE@/controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace @PACKAGE@
{

namespace
{

using controller_interface::CallbackReturn;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using hardware_interface::HW_IF_ACCELERATION;
using hardware_interface::HW_IF_EFFORT;
using hardware_interface::HW_IF_POSITION;
using hardware_interface::HW_IF_VELOCITY;

constexpr std::size_t n = model::joints;
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

Joints joints_of(const std::vector<double> & values)
{
  Joints joints;
  std::copy_n(values.begin(), n, joints.begin());
  return joints;
}

std::vector<double> list_of(const Joints & joints)
{
  return {joints.begin(), joints.end()};
}

}  // namespace

CallbackReturn Controller::on_init()
{
  listener_ = std::make_shared<ParamListener>(get_node());
  return CallbackReturn::SUCCESS;
}

std::optional<Settings> Controller::settings() const
{
  Settings made;
  made.mode = parameters_.mode == "feed_forward" ? Mode::feed_forward :
    parameters_.mode == "computed_torque" ? Mode::computed_torque : Mode::gravity_compensation;
  made.kp = joints_of(parameters_.position_gains);
  made.kd = joints_of(parameters_.velocity_gains);
  made.torque_limit = joints_of(parameters_.torque_limits);
  made.friction_scale = parameters_.friction_scale;
  made.ramp = parameters_.ramp;
  made.state_timeout = parameters_.state_timeout;
  made.reference_timeout = parameters_.reference_timeout;
  made.stop_time = parameters_.stop_time;
  made.reference_tolerance = parameters_.reference_tolerance;
  made.observer_gain = parameters_.observer_gain;
  for (std::size_t j = 0; j < n; ++j) {
    if (!(made.torque_limit[j] > 0.0)) {
      RCLCPP_ERROR(
        get_node()->get_logger(),
        "torque_limits: joint '%s' has none; give the largest effort that it may get",
        parameters_.joints[j].c_str());
      return std::nullopt;
    }
  }
  return made;
}

CallbackReturn Controller::on_configure(const rclcpp_lifecycle::State &)
{
  parameters_ = listener_->get_params();
  const auto made = settings();
  if (!made) {
    return CallbackReturn::ERROR;
  }
  settings_ = *made;
  new_settings_.write(settings_);
  position_commands_ = settings_.mode == Mode::feed_forward;
  effort_states_ = parameters_.effort_state;

  auto node = get_node();
  subscription_ = node->create_subscription<trajectory_msgs::msg::JointTrajectory>(
    "~/reference", rclcpp::SystemDefaultsQoS(),
    [this](const trajectory_msgs::msg::JointTrajectory & message) {receive(message);});
  residual_ = node->create_publisher<sensor_msgs::msg::JointState>("~/residual", 10);
  tracking_ = node->create_publisher<sensor_msgs::msg::JointState>("~/tracking", 10);
  diagnostics_ =
    node->create_publisher<diagnostic_msgs::msg::DiagnosticArray>("/diagnostics", 10);
  timer_ = node->create_wall_timer(
    std::chrono::duration<double>(1.0 / parameters_.publish_rate), [this] {publish();});
  return CallbackReturn::SUCCESS;
}

controller_interface::InterfaceConfiguration Controller::command_interface_configuration() const
{
  controller_interface::InterfaceConfiguration wanted{interface_configuration_type::INDIVIDUAL, {}};
  for (const auto & joint : parameters_.joints) {
    wanted.names.push_back(joint + "/" + HW_IF_EFFORT);
  }
  if (position_commands_) {
    for (const auto & joint : parameters_.joints) {
      wanted.names.push_back(joint + "/" + HW_IF_POSITION);
    }
  }
  return wanted;
}

controller_interface::InterfaceConfiguration Controller::state_interface_configuration() const
{
  controller_interface::InterfaceConfiguration wanted{interface_configuration_type::INDIVIDUAL, {}};
  for (const auto kind : {HW_IF_POSITION, HW_IF_VELOCITY, HW_IF_EFFORT}) {
    if (kind == HW_IF_EFFORT && !effort_states_) {
      continue;
    }
    for (const auto & joint : parameters_.joints) {
      wanted.names.push_back(joint + "/" + kind);
    }
  }
  return wanted;
}

std::vector<hardware_interface::CommandInterface> Controller::on_export_reference_interfaces()
{
  reference_interfaces_.assign(3 * n, no_number);
  std::vector<hardware_interface::CommandInterface> made;
  const std::string own = get_node()->get_name();
  std::size_t k = 0;
  for (const auto kind : {HW_IF_POSITION, HW_IF_VELOCITY, HW_IF_ACCELERATION}) {
    for (const auto & joint : parameters_.joints) {
      made.emplace_back(own, joint + "/" + kind, &reference_interfaces_[k++]);
    }
  }
  return made;
}

bool Controller::measure(Measured & measured) const
{
  bool all = true;
  const auto read = [&](std::size_t k, double & value) {
      const auto found = state_interfaces_[k].get_optional();
      value = found ? *found : no_number;
      all = all && found;
    };
  for (std::size_t j = 0; j < n; ++j) {
    read(j, measured.position[j]);
    read(n + j, measured.velocity[j]);
    if (effort_states_) {
      read(2 * n + j, measured.effort[j]);
    }
  }
  measured.has_effort = effort_states_;
  return all;
}

CallbackReturn Controller::on_activate(const rclcpp_lifecycle::State &)
{
  Measured measured;
  measure(measured);
  for (std::size_t j = 0; j < n; ++j) {
    if (!std::isfinite(measured.position[j])) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "joint '%s': no position", parameters_.joints[j].c_str());
      return CallbackReturn::ERROR;
    }
  }
  Joints before;
  for (std::size_t j = 0; j < n; ++j) {
    before[j] = command_interfaces_[j].get_optional().value_or(0.0);
  }
  std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), no_number);
  // References from before do not count.
  Reference old;
  new_reference_.read(old);
  reference_age_ = std::numeric_limits<double>::infinity();
  core_.activate(measured, before);
  return CallbackReturn::SUCCESS;
}

CallbackReturn Controller::on_deactivate(const rclcpp_lifecycle::State &)
{
  Command command;
  for (std::size_t j = 0; j < n; ++j) {
    command.position[j] = state_interfaces_[j].get_optional().value_or(no_number);
  }
  return write(command) ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
}

return_type Controller::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration & period)
{
  Reference reference;
  if (new_reference_.read(reference)) {
    reference_age_ = 0.0;
    std::copy(reference.position.begin(), reference.position.end(), reference_interfaces_.begin());
    std::copy(
      reference.velocity.begin(), reference.velocity.end(), reference_interfaces_.begin() + n);
    std::copy(
      reference.acceleration.begin(), reference.acceleration.end(),
      reference_interfaces_.begin() + 2 * n);
  } else {
    reference_age_ += period.seconds();
  }
  return return_type::OK;
}

return_type Controller::update_and_write_commands(
  const rclcpp::Time &, const rclcpp::Duration & period)
{
  new_settings_.read(settings_);
  Measured measured;
  measure(measured);
  Reference reference;
  for (std::size_t j = 0; j < n; ++j) {
    reference.position[j] = reference_interfaces_[j];
    reference.velocity[j] = reference_interfaces_[n + j];
    reference.acceleration[j] = reference_interfaces_[2 * n + j];
  }
  // A controller before this one writes at every step; without one, messages have an age.
  const double age = is_in_chained_mode() ? 0.0 : reference_age_;
  Command command;
  const Status status =
    core_.update(settings_, measured, reference, age, period.seconds(), command);
  new_report_.write(core_.report());
  const bool written = write(command);
  return written && status != Status::fault ? return_type::OK : return_type::ERROR;
}

bool Controller::write(const Command & command)
{
  bool all = true;
  for (std::size_t j = 0; j < n; ++j) {
    all = command_interfaces_[j].set_value(command.effort[j]) && all;
    if (position_commands_) {
      all = command_interfaces_[n + j].set_value(command.position[j]) && all;
    }
  }
  return all;
}

void Controller::receive(const trajectory_msgs::msg::JointTrajectory & message)
{
  auto & clock = *get_node()->get_clock();
  constexpr int quiet = 1000;  // ms
  if (message.points.size() != 1) {
    RCLCPP_WARN_THROTTLE(
      get_node()->get_logger(), clock, quiet, "~/reference: %zu points, one is needed",
      message.points.size());
    return;
  }
  const auto & point = message.points.front();
  Reference reference;
  for (std::size_t j = 0; j < n; ++j) {
    const auto & names = message.joint_names;
    const auto found = std::find(names.begin(), names.end(), parameters_.joints[j]);
    const auto k = static_cast<std::size_t>(found - names.begin());
    if (found == names.end() || k >= point.positions.size()) {
      RCLCPP_WARN_THROTTLE(
        get_node()->get_logger(), clock, quiet, "~/reference: no position of joint '%s'",
        parameters_.joints[j].c_str());
      return;
    }
    reference.position[j] = point.positions[k];
    reference.velocity[j] = k < point.velocities.size() ? point.velocities[k] : 0.0;
    reference.acceleration[j] = k < point.accelerations.size() ? point.accelerations[k] : 0.0;
  }
  new_reference_.write(reference);
}

void Controller::publish()
{
  if (listener_->is_old(parameters_)) {
    const auto previous = parameters_;
    parameters_ = listener_->get_params();
    if (const auto made = settings()) {
      new_settings_.write(*made);
    } else {
      parameters_ = previous;
    }
  }
  Report report;
  if (!new_report_.read(report)) {
    return;  // not active
  }
  const auto stamp = get_node()->now();
  sensor_msgs::msg::JointState residual;
  residual.header.stamp = stamp;
  residual.name = parameters_.joints;
  residual.effort = list_of(report.external);
  residual_->publish(residual);

  sensor_msgs::msg::JointState tracking;
  tracking.header.stamp = stamp;
  tracking.name = parameters_.joints;
  tracking.position = list_of(report.position_error);
  tracking.velocity = list_of(report.velocity_error);
  for (std::size_t j = 0; j < n; ++j) {
    tracking.effort.push_back(report.measured[j] - report.predicted[j]);
  }
  tracking_->publish(tracking);

  using diagnostic_msgs::msg::DiagnosticStatus;
  DiagnosticStatus status;
  status.name = std::string(get_node()->get_name()) + ": model";
  status.hardware_id = model::robot;
  status.level = report.status == Status::fault ? DiagnosticStatus::ERROR :
    report.status == Status::state_missing || report.limited ? DiagnosticStatus::WARN :
    DiagnosticStatus::OK;
  status.message = text_of(report.status);
  if (report.limited) {
    status.message += "; an effort is at its limit";
  }
  for (std::size_t j = 0; j < n; ++j) {
    const auto add = [&](const char * what, double value) {
        diagnostic_msgs::msg::KeyValue entry;
        entry.key = parameters_.joints[j] + " " + what;
        entry.value = std::to_string(value);
        status.values.push_back(entry);
      };
    add("position error", report.position_error[j]);
    add("effort", report.effort[j]);
    add("predicted effort", report.predicted[j]);
    add("external effort", report.external[j]);
  }
  diagnostic_msgs::msg::DiagnosticArray array;
  array.header.stamp = stamp;
  array.status.push_back(status);
  diagnostics_->publish(array);
}

}  // namespace @PACKAGE@

PLUGINLIB_EXPORT_CLASS(
  @PACKAGE@::Controller, controller_interface::ChainableControllerInterface)
