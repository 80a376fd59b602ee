"""Makes control_episode.png: PTD on CartPole after 300 episodes, with the paper's preference."""

from pathlib import Path

from preftd import PTD, Actor, ActorCriticLearner, Critic, StepSizePair
from preftd._src.style import save_figure
from preftd.experience import TileCoding
from preftd.preferences import Displacement
from preftd.report import draw_episode
from preftd.tasks import CartPole

tiles = TileCoding([-2.4, -3, -0.21, -3], [2.4, 3, 0.21, 3], tiles=[4] * 4, tilings=8)
learner = ActorCriticLearner(
    4,
    2,
    PTD(),
    StepSizePair(actor=0.03, critic=0.03),
    actor=Actor(bias=True),
    critic=Critic("held", tiles),
)
task, moved = CartPole(limit=200), Displacement({0: 0.5, 1: 0.5, 2: 0.05})
found = learner.learn(task.environment(), moved, 300, discount=task.discount, seed=0)
print(f"mean return of the last 50 episodes: {found.returns[-50:].mean():.0f}")
figure = draw_episode(task.environment(), learner.act, moved, seed=1)
save_figure(figure.axes[0], Path(__file__).with_suffix(".png"))
