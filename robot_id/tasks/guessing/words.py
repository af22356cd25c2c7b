"""Words in the names of columns, in the languages of those who record: what each stands for."""

from __future__ import annotations

# Quantity -> words (lower case, without accents); some are prefixes of compounds in no language.
QUANTITIES: dict[str, str] = {
    'time': (
        't time timestamp stamp zeit zeitstempel temps tiempo tempo czas tijd tid cas aika zaman '
        'seconds secs elapsed clock vreme время 时间 時間 时刻 시간'
    ),
    'index': (
        'index idx sample samples nr no row zeile counter cycle zyklus takt seq sequence frame id '
        'num numero ligne fila riga номер 序号 番号'
    ),
    'position': (
        'pos position positions q theta angle angles ang winkel gelenkwinkel drehwinkel lage '
        'stellung posicion posizione posicao angolo angulo hoek positie pozycja kat vinkel poloha '
        'uhel konum aci enc encoder axisact istlage positionen jointangle qpos '
        'положение позиция угол 位置 角度 角 각도 위치'
    ),
    'velocity': (
        'vel velocity velocities speed speeds dq qd qdot dtheta thetadot thetad omega qvel '
        'geschwindigkeit geschw drehzahl winkelgeschwindigkeit vitesse velocidad velocita '
        'velocidade snelheid predkosc hastighet rychlost hiz скорость 速度 角速度 속도'
    ),
    'acceleration': (
        'acc accel acceleration accelerations ddq qdd qddot ddtheta beschleunigung aceleracion '
        'accelerazione aceleracao versnelling przyspieszenie acceleratie ускорение 加速度 가속도'
    ),
    'torque': (
        'tau torque torques trq effort efforts eff drehmoment moment mom moments couple par '
        'coppia momento binario koppel tork vridmoment tork moment force kraft gelenkmoment '
        'момент 力矩 扭矩 转矩 トルク 토크'
    ),
    'current': (
        'current currents cur curr iq strom motorstrom courant corriente corrente stroom prad '
        'strom proud akim amps ток 电流 電流 전류'
    ),
    'voltage': 'voltage volt volts spannung voltaje tensao tensione napiecie 电压 電圧 напряжение',
    'duty': 'pwm duty dutycycle tastgrad',
    'temperature': (
        'temp temperature temperatures temperatur temperatura teplota 温度 температура 온도'
    ),
    'other': (
        'tcp cart cartesian pose ee tool flange status mode flag di do io digital wrench ft '
        'quat quaternion roll pitch yaw imu safety force3d ext external extern gravity grav model '
        'est estimated disturbance power leistung payload x y z fx fy fz mx my mz gripperstate '
        'override program line checksum crc battery 状态'
    ),
}  # fmt: skip

ROLES: dict[str, str] = {
    'reference': (
        'ref reference desired des target cmd command commanded soll sollwert setpoint set goal '
        'consigne consigna referencia riferimento rif vorgabe demand demanded zadana wanted '
        'planned gewenst borvarde задание заданное 目标 指令 目標 설정'
    ),
    'actual': (
        'act actual ist istwert measured meas msr fbk feedback mes mesure mesuree medido medida '
        'misurata misurato real reel reelle effective present gemessen actuel actuelle 实际 実際 '
        'факт измеренное'
    ),
    'error': (
        'err error fehler lag following erreur ecart schleppfehler deviation dev errore residual '
        'ошибка 偏差 誤差'
    ),
}

SIDES: dict[str, str] = {
    'motor': 'motor mot mtr rotor moteur motore drive antrieb motorside 电机 モータ двигатель',
    'joint': (
        'joint jnt link axis achse gelenk axe articulation eje asse giunto articulacion abtrieb '
        'output os junta arm 关节 関節 軸 轴 ось сустав'
    ),
}


def table(listed: dict[str, str]) -> dict[str, str]:
    """Return word -> what it stands for."""
    return {word: meaning for meaning, words in listed.items() for word in words.split()}


QUANTITY, ROLE, SIDE = table(QUANTITIES), table(ROLES), table(SIDES)
# Words that are written without blanks around them are searched inside names.
JOINED = sorted(
    (word for word in {*QUANTITY, *ROLE, *SIDE} if not word.isascii()), key=len, reverse=True
)
# Joints that are no part of an arm's own motion: tools and wheels.
APART = ('finger', 'gripper', 'hand', 'wheel', 'knuckle', 'claw', 'jaw', 'caster', 'greifer')
