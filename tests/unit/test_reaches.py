"""What a search expects its ways to take."""

from dataclasses import replace

from app.search.plans import Head
from app.search.reaches import Costs

COSTS = Costs(in_order=1e6, by_index=100_000, share=0.01, hits_of_a_document=0.1, passages=10)


def test_half_of_the_time_of_the_index_is_tried_in_order_where_that_is_likely_enough() -> None:
    tried = COSTS.worth_trying(20)
    each = 50_000 / tried.documents
    assert abs(tried.passages - 10 * tried.documents) < 10
    assert 30 < each < 100
    assert tried.documents * COSTS.hits_of_a_document > 20


def test_nothing_is_tried_in_vain() -> None:
    assert COSTS.worth_trying(1_000) == Head()
    assert replace(COSTS, hits_of_a_document=0).worth_trying(20) == Head()
    assert replace(COSTS, by_index=100).worth_trying(20) == Head()
