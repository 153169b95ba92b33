# What counts is kept in modules, which are moved as the model is; the length of a chunk is found in one loop.
import torch
from torch import nn


class Criterion(nn.Module):
    """Of each row its loss and its share in a mean, by the weight of its class."""

    def __init__(self, class_weights):
        super().__init__()
        self.register_buffer("weights", class_weights.clone())
        self.rows = nn.CrossEntropyLoss(reduction="none")

    def forward(self, logits, labels):
        return self.rows(logits, labels) * self.weights[labels]


class Confusion(nn.Module):
    def __init__(self, *shape, device):
        super().__init__()
        self.register_buffer("counts", torch.zeros(*shape, dtype=torch.int64, device=device))

    def add(self, epoch, labels, predicted):
        one = torch.ones_like(labels)
        self.counts[epoch].index_put_((labels, predicted), one, accumulate=True)


def fit(model, train, val, class_weights, device, *, epochs, rate, path):
    before = [each.training for each in model.modules()]
    classes = len(class_weights)
    criterion, confusion = Criterion(class_weights), Confusion(epochs, classes, classes, device=device)
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
                        part = criterion(model(images[at : at + rows]), labels[at : at + rows]).sum() / share
                        part.backward()
                        loss, part = loss + part.detach(), None
                    break
                except torch.OutOfMemoryError:
                    part, longest = None, rows // 2
                    if not longest:
                        raise
            optimizer.step()
            total, shares = total + loss * share, shares + share
        losses.append((total / shares).item())
        model.eval()
        for images, labels in val:
            with torch.no_grad():
                confusion.add(epoch, labels.to(device), model(images.to(device)).argmax(1))
    for each, mode in zip(model.modules(), before):
        each.training = mode
    state = model.state_dict()
    torch.save({name: state[name].to("cpu") for name in state}, path)
    return {"losses": losses, "confusion": confusion.counts.cpu()}
