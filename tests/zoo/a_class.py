# Is a class: a call gives an instance.


class double:
    def __init__(self, x):
        self.x = x * 2
