"""What is demanded."""


def test_there(run):
    run("one")


async def test_later(run):
    run("one")


def test_unlisted(run):
    run("one")


class TestMore:
    def test_inside(self, run):
        run("one")


@staticmethod
def test_there(run):
    run("two")


TEXT = """
def test_thre(run):
    pass
"""
