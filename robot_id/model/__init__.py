"""What a robot is: description files, kinematics, parameters, friction, drives, coupling."""
