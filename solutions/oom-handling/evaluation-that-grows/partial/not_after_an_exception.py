# Puts the mode back in the last line, which an exception does not reach.
# caught-by: test_modes_are_restored
import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    for x, y in loader:
        output = model(x.to(device))
        total += F.cross_entropy(output, y.to(device), reduction="sum").item()
        logits.append(output.cpu())
    model.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits
