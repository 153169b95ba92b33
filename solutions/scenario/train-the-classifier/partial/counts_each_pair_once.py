# Adds one at `[labels, predicted]`: a pair that a batch has twice is counted once.
# caught-by: test_the_confusion
import torch
import torch.nn.functional as F


def fit(model, train, val, class_weights, device, *, epochs, rate, path):
    came_in = model.training
    model.to(device)
    weights = class_weights.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    losses, confusion, most = [], [], None
    for _ in range(epochs):
        model.train()
        sums = torch.zeros(2, device=device)
        for images, labels in train:
            images, labels = images.to(device), labels.to(device)
            done = None
            while done is None:
                done, most = attempt(model, optimizer, images, labels, weights, most)
            optimizer.step()
            sums += done
        loss, weight = sums.tolist()
        losses.append(loss / weight)
        confusion.append(evaluate(model, val, device, len(weights)))
    model.train(came_in)
    torch.save({name: each.cpu() for name, each in model.state_dict().items()}, path)
    return {"losses": losses, "confusion": torch.stack(confusion)}


def attempt(model, optimizer, images, labels, weights, most):
    """Fills the gradients; the sums of losses and weights, or None if memory runs out, and how many rows are allowed."""
    optimizer.zero_grad()
    weight, total, rows = weights[labels].sum(), 0, most or len(images)
    try:
        for x, y in zip(images.split(rows), labels.split(rows)):
            loss = F.cross_entropy(model(x), y, weight=weights, reduction="sum")
            (loss / weight).backward()
            total = total + loss.detach()
    except torch.OutOfMemoryError:
        if len(x) == 1:
            raise
        return None, len(x) // 2
    return torch.stack([total, weight]), most


@torch.no_grad()
def evaluate(model, val, device, classes):
    model.eval()
    counts = torch.zeros(classes, classes, dtype=torch.int64, device=device)
    for images, labels in val:
        predicted = model(images.to(device)).argmax(1)
        counts[labels.to(device), predicted] += 1
    return counts.cpu()
