def test_a(run)
    run("one")
