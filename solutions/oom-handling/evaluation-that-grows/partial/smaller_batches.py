# Single rows need less memory each; what is kept is the same in the end.
# caught-by: test_every_batch_as_it_is
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        with torch.no_grad():
            for x, y in loader:
                for row, label in zip(x.split(1), y.split(1)):
                    output = model(row.to(device))
                    total += F.cross_entropy(output, label.to(device), reduction="sum").item()
                    logits.append(output.cpu())
    finally:
        model.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits
