# Freezes the parameters and thaws all of them afterwards, also those that were frozen before.
# caught-by: test_modes_are_restored
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    model.requires_grad_(False)
    total, logits = 0.0, []
    try:
        with torch.no_grad():
            for x, y in loader:
                output = model(x.to(device))
                total += F.cross_entropy(output, y.to(device), reduction="sum").item()
                logits.append(output.cpu())
    finally:
        model.train(training)
        model.requires_grad_(True)
    logits = torch.cat(logits)
    return total / len(logits), logits
