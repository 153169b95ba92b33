# Asks the loader for its iterator before `try`: a loader that raises there leaves the model in evaluation mode.
# caught-by: test_modes_are_restored
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    batches, total, logits = iter(loader), 0.0, []
    try:
        with torch.no_grad():
            for x, y in batches:
                output = model(x.to(device))
                total += F.cross_entropy(output, y.to(device), reduction="sum").item()
                logits.append(output.cpu())
    finally:
        model.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits
