# The criterion is a module that is moved as the model is; the length of a chunk is found in one loop.
import torch
import torch.nn.functional as F
from torch import nn


class Criterion(nn.Module):
    """Of each row its loss and its share in a mean, by the weight of its class."""

    def __init__(self, class_weights):
        super().__init__()
        self.register_buffer("weights", class_weights)

    def forward(self, logits, labels):
        return F.cross_entropy(logits, labels, reduction="none") * self.weights[labels]


def fit(model, train, val, class_weights, device, *, epochs, rate, path):
    before = [each.training for each in model.modules()]
    criterion, classes = Criterion(class_weights), len(class_weights)
    confusion = torch.zeros(epochs, classes, classes, dtype=torch.int64, device=device)
    nn.ModuleList([model, criterion]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    losses, longest = [], None
    for epoch in range(epochs):
        model.train()
        total, shares = 0, 0
        for images, labels in train:
            images, labels = images.to(device), labels.to(device)
            share = criterion.weights[labels].sum()
            while True:
                loss, rows = 0, longest or len(labels)
                optimizer.zero_grad()
                try:
                    for at in range(0, len(labels), rows):
                        x, y = images[at : at + rows], labels[at : at + rows]
                        part = criterion(model(x), y).sum() / share
                        part.backward()
                        loss, part = loss + part.detach(), None
                    break
                except torch.OutOfMemoryError:
                    part, longest = None, len(y) // 2
                    if not longest:
                        raise
            optimizer.step()
            total, shares = total + loss * share, shares + share
        losses.append((total / shares).item())
        model.eval()
        for images, labels in val:
            labels = labels.to(device)
            with torch.no_grad():
                predicted = model(images.to(device)).argmax(1)
            confusion[epoch].index_put_((labels, predicted), torch.ones_like(labels), accumulate=True)
    for each, mode in zip(model.modules(), before):
        each.training = mode
    state = model.state_dict()
    torch.save({name: state[name].to("cpu") for name in state}, path)
    return {"losses": losses, "confusion": confusion.cpu()}
