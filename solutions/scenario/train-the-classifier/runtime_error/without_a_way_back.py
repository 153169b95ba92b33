# Trains and evaluates well, and has no idea of running out of memory.
# caught-by: test_it_backs_off
import torch
import torch.nn.functional as F


def fit(model, train, val, class_weights, device, *, epochs, rate, path):
    came_in = model.training
    model.to(device)
    weights = class_weights.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    losses, confusion = [], []
    for _ in range(epochs):
        model.train()
        sums = torch.zeros(2, device=device)
        for images, labels in train:
            images, labels = images.to(device), labels.to(device)
            sums += step(model, optimizer, images, labels, weights)
        loss, weight = sums.tolist()
        losses.append(loss / weight)
        confusion.append(evaluate(model, val, device, len(weights)))
    model.train(came_in)
    torch.save({name: each.cpu() for name, each in model.state_dict().items()}, path)
    return {"losses": losses, "confusion": torch.stack(confusion)}


def step(model, optimizer, images, labels, weights):
    """One step; the sums of losses and weights."""
    optimizer.zero_grad()
    weight = weights[labels].sum()
    loss = F.cross_entropy(model(images), labels, weight=weights, reduction="sum")
    (loss / weight).backward()
    optimizer.step()
    return torch.stack([loss.detach(), weight])


@torch.no_grad()
def evaluate(model, val, device, classes):
    model.eval()
    counts = torch.zeros(classes * classes, dtype=torch.int64, device=device)
    for images, labels in val:
        predicted = model(images.to(device)).argmax(1)
        counts += torch.bincount(labels.to(device) * classes + predicted, minlength=classes * classes)
    return counts.view(classes, classes).cpu()
