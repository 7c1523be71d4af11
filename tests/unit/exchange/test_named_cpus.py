"""Tables of cross-benchmarks, in which a column of devices names GPUs and CPUs."""

from __future__ import annotations

import pytest

from sizer.exchange.imported import Imported
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.study import Objective
from sizer.words.page import column_named
from tests.tables import Read, stored_catalog

CROSS_BENCHMARK = """framework,framework_version,network,device,devices,cpu_threads,batch_size,mode,seconds_per_batch,\
samples_per_second,precision,date,instance,vcpus,input
MXNet,1.2,resnet50,K80,1,,32,train,0.64,,fp32,2018,p2.xlarge,,224
MXNet,1.0,resnet50,CPU c4.8xlarge,1,,32,infer,,28.5,fp32,2017,c4.8xlarge,36,224
MXNet,1.0,resnet50,CPU c4.4xlarge,1,,32,infer,,15.5,fp32,2017,c4.4xlarge,16,224
PyTorch,2.4,resnet50,CPU Core i9-10940X,1,,1,infer,,67.2,fp32,2024,,,224
PyTorch,2.4,resnet50,CPU Core i7-12700H,1,,1,infer,,30.5,fp32,2024,,,224
Torch,7,resnet50,CPU 2x Xeon E5-2630 v3,1,,1,infer,0.2,,fp32,2016,,32,224
PaddlePaddle,0.11 MKLML,resnet50,CPU Core i9-10940X,1,,1,infer,,6.33,fp32,2018,,,224
PaddlePaddle,0.11 MKL-DNN,resnet50,CPU Core i9-10940X,1,,1,infer,,107.8,fp32,2018,,,224
"""


@pytest.fixture
def found(read: Read) -> Imported:
    return read(CROSS_BENCHMARK)


def test_its_answer_has_the_table_of_devices(found: Imported) -> None:
    """A CPU stands in it by its name, never as another one's repeat."""
    recommendation = recommend(fit(found.runs), found.runs, Objective(), stored_catalog())
    table = recommendation.cross_table
    assert table is not None
    assert [column_named(column) for column in table.columns] == [
        "MXNet · c4.8xlarge",
        "MXNet · c4.4xlarge",
        "PyTorch · Core i9-10940X",
        "PyTorch · Core i7-12700H",
        "Torch · 2x Xeon E5-2630 v3",
        "PaddlePaddle · Core i9-10940X",
    ]
