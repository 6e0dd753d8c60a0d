//! The C++ functions of the graph engine that build graphs: clients link to them, and need them to be loaded. They build no
//! graphs here.
//!
//! A table has the name of each function, and its symbols. Functions that return a status return `GRAPH_FAILED`. The interface
//! has no way to fail for the others, which return objects or references: they end the program, with their name.

use std::sync::OnceLock;

use super::graph_engine::{GRAPH_SUCCESS, GraphStatus, SharedPointer, refuse};
use crate::ffi::{Out, complain};

/// Constructors of objects that consist of one shared pointer. The object stays empty.
macro_rules! empty {
    ($($name:literal: $($symbol:literal),+;)*) => {
        $($(const _: () = {
            // SAFETY: the name is that of the constructor; nothing else in this library defines it.
            #[unsafe(export_name = $symbol)]
            extern "C" fn construct(this: Out<SharedPointer>) {
                this.put_if_wanted([0, 0]);
            }
        };)+)*
    };
}

/// Constructors of objects without contents, which register the operators of a client as it is loaded.
macro_rules! nothing {
    ($($name:literal: $($symbol:literal),+;)*) => {
        $($(const _: () = {
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn register() {}
        };)+)*
    };
}

macro_rules! refused {
    ($($name:literal: $($symbol:literal),+;)*) => {
        $($(const _: () = {
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn fail() -> GraphStatus {
                refuse($name)
            }
        };)+)*
    };
}

macro_rules! ended {
    ($($name:literal: $($symbol:literal),+;)*) => {
        $($(const _: () = {
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn end_program() -> ! {
                end($name)
            }
        };)+)*
    };
}

fn end(function: &str) -> ! {
    complain(&format!(
        "{function} is not supported: softacl builds no models; the program ends"
    ));
    std::process::abort()
}

/// `ge::StatusFactory`: an ordered map, to which clients add the texts of their codes as they are loaded.
///
/// An empty map of the C++ library has a comparison without contents, and a root that is before and behind itself: colour,
/// parent, first, last. The count is behind it.
struct Texts([usize; 6]);

/// `ge::StatusFactory::Instance`: the one object, which stays.
// SAFETY: as above.
#[unsafe(export_name = "_ZN2ge13StatusFactory8InstanceEv")]
extern "C" fn status_texts() -> usize {
    static TEXTS: OnceLock<usize> = OnceLock::new();
    *TEXTS.get_or_init(|| {
        let texts = Box::leak(Box::new(Texts([0; 6])));
        let root = &raw const texts.0[1] as usize;
        (texts.0[3], texts.0[4]) = (root, root);
        &raw const *texts as usize
    })
}

/// `GEInitialize` and `GEFinalize`: clients call them before operators by name, too. They make and keep nothing here.
macro_rules! done {
    ($($symbol:literal),+) => {
        $(const _: () = {
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn succeed() -> GraphStatus {
                GRAPH_SUCCESS
            }
        };)+
    };
}

done! {
    "_ZN2ge10GEFinalizeEv",
    "_ZN2ge12GEInitializeERKSt3mapISsSsSt4lessISsESaISt4pairIKSsSsEEE"
}

empty! {
    "ge::TensorDesc::TensorDesc":
        "_ZN2ge10TensorDescC1ENS_5ShapeENS_6FormatENS_8DataTypeE",
        "_ZN2ge10TensorDescC1EOS0_",
        "_ZN2ge10TensorDescC1ERKS0_",
        "_ZN2ge10TensorDescC1Ev";
    "ge::TensorType::TensorType":
        "_ZN2ge10TensorTypeC1ERKSt16initializer_listINS_8DataTypeEE";
    "ge::Graph::Graph":
        "_ZN2ge5GraphC1ERKSs";
    "ge::Shape::Shape":
        "_ZN2ge5ShapeC1ERKSt6vectorIlSaIlEE",
        "_ZN2ge5ShapeC1Ev";
    "ge::Tensor::Tensor":
        "_ZN2ge6TensorC1ERKNS_10TensorDescE",
        "_ZN2ge6TensorC1ERKNS_10TensorDescEPKhm",
        "_ZN2ge6TensorC1Ev";
    "ge::Promote::Promote":
        "_ZN2ge7PromoteC1ERKSt16initializer_listIPKcE";
}

nothing! {
    "ge::InferShapeFuncRegister::InferShapeFuncRegister":
        "_ZN2ge22InferShapeFuncRegisterC1ERKSsRKSt8functionIFjRNS_8OperatorEEE";
    "ge::OperatorCreatorRegister::OperatorCreatorRegister":
        "_ZN2ge23OperatorCreatorRegisterC1EPKcRKSt8functionIFNS_8OperatorERKNS_12AscendStringEEE",
        "_ZN2ge23OperatorCreatorRegisterC1ERKSsRKSt8functionIFNS_8OperatorES2_EE";
}

refused! {
    "ge::Session::RemoveGraph":
        "_ZN2ge7Session11RemoveGraphEj";
    "ge::Session::CompileGraph":
        "_ZN2ge7Session12CompileGraphEj";
    "ge::Session::RunGraphAsync":
        "_ZN2ge7Session13RunGraphAsyncEjRKSt6vectorINS_6TensorESaIS2_EESt8functionIFvjRS4_EE";
    "ge::Session::RegisterCallBackFunc":
        "_ZN2ge7Session20RegisterCallBackFuncERKSsRKPFjjRKSt3mapISsNS_6TensorESt4lessISsESaISt4pairIS1_S4_EEEE";
    "ge::Session::RunGraphWithStreamAsync":
        "_ZN2ge7Session23RunGraphWithStreamAsyncEjPvRKSt6vectorINS_6TensorESaIS3_EERS5_";
    "ge::Session::SetGraphConstMemoryBase":
        "_ZN2ge7Session23SetGraphConstMemoryBaseEjPKvm";
    "ge::Session::UpdateGraphFeatureMemoryBase":
        "_ZN2ge7Session28UpdateGraphFeatureMemoryBaseEjPKvm";
    "ge::Session::SetGraphFixedFeatureMemoryBase":
        "_ZN2ge7Session30SetGraphFixedFeatureMemoryBaseEjPKvm";
    "ge::Session::UpdateGraphRefreshableFeatureMemoryBase":
        "_ZN2ge7Session39UpdateGraphRefreshableFeatureMemoryBaseEjPKvm";
    "ge::Session::AddGraph":
        "_ZN2ge7Session8AddGraphEjRKNS_5GraphERKSt3mapISsSsSt4lessISsESaISt4pairIKSsSsEEE";
    "ge::Session::RunGraph":
        "_ZN2ge7Session8RunGraphEjRKSt6vectorINS_6TensorESaIS2_EERS4_";
    "ge::Session::RegisterExternalAllocator":
        "_ZNK2ge7Session25RegisterExternalAllocatorEPKvSt10shared_ptrINS_9AllocatorEE";
    "ge::Session::UnregisterExternalAllocator":
        "_ZNK2ge7Session27UnregisterExternalAllocatorEPKv";
}

ended! {
    "ge::TensorDesc::SetDataType":
        "_ZN2ge10TensorDesc11SetDataTypeENS_8DataTypeE";
    "ge::TensorDesc::SetPlacement":
        "_ZN2ge10TensorDesc12SetPlacementENS_9PlacementE";
    "ge::TensorDesc::SetRealDimCnt":
        "_ZN2ge10TensorDesc13SetRealDimCntEl";
    "ge::TensorDesc::SetOriginShape":
        "_ZN2ge10TensorDesc14SetOriginShapeERKNS_5ShapeE";
    "ge::TensorDesc::SetOriginFormat":
        "_ZN2ge10TensorDesc15SetOriginFormatENS_6FormatE";
    "ge::TensorDesc::SetShape":
        "_ZN2ge10TensorDesc8SetShapeERKNS_5ShapeE";
    "ge::TensorDesc::SetFormat":
        "_ZN2ge10TensorDesc9SetFormatENS_6FormatE";
    "ge::GraphBuffer::GraphBuffer":
        "_ZN2ge11GraphBufferC1Ev";
    "ge::GraphBuffer::~GraphBuffer":
        "_ZN2ge11GraphBufferD1Ev";
    "ge::Graph::RemoveEdge":
        "_ZN2ge5Graph10RemoveEdgeERNS_5GNodeEiS2_i";
    "ge::Graph::RemoveNode":
        "_ZN2ge5Graph10RemoveNodeERNS_5GNodeE";
    "ge::Graph::SetOutputs":
        "_ZN2ge5Graph10SetOutputsERKSt6vectorINS_8OperatorESaIS2_EE",
        "_ZN2ge5Graph10SetOutputsERKSt6vectorISt4pairINS_8OperatorESsESaIS4_EE";
    "ge::Graph::AddDataEdge":
        "_ZN2ge5Graph11AddDataEdgeERNS_5GNodeEiS2_i";
    "ge::Graph::AddControlEdge":
        "_ZN2ge5Graph14AddControlEdgeERNS_5GNodeES2_";
    "ge::Graph::SetNeedIteration":
        "_ZN2ge5Graph16SetNeedIterationEb";
    "ge::Graph::SetInputs":
        "_ZN2ge5Graph9SetInputsERKSt6vectorINS_8OperatorESaIS2_EE";
    "ge::Shape::SetDim":
        "_ZN2ge5Shape6SetDimEml";
    "ge::Tensor::SetTensorDesc":
        "_ZN2ge6Tensor13SetTensorDescERKNS_10TensorDescE";
    "ge::Tensor::GetData":
        "_ZN2ge6Tensor7GetDataEv";
    "ge::Tensor::SetData":
        "_ZN2ge6Tensor7SetDataEPKhm",
        "_ZN2ge6Tensor7SetDataEPhmRKSt8functionIFvS1_EE",
        "_ZN2ge6Tensor7SetDataERKSs",
        "_ZN2ge6Tensor7SetDataERKSt6vectorISsSaISsEE";
    "ge::Tensor::ResetData":
        "_ZN2ge6Tensor9ResetDataEv";
    "ge::Session::GetCompiledGraphSummary":
        "_ZN2ge7Session23GetCompiledGraphSummaryEj";
    "ge::Session::Session":
        "_ZN2ge7SessionC1ERKSt3mapISsSsSt4lessISsESaISt4pairIKSsSsEEE";
    "ge::Session::~Session":
        "_ZN2ge7SessionD1Ev";
    "ge::Operator::AttrRegister":
        "_ZN2ge8Operator12AttrRegisterEPKcRKNS_12AscendStringE",
        "_ZN2ge8Operator12AttrRegisterEPKcRKNS_6TensorE",
        "_ZN2ge8Operator12AttrRegisterEPKcRKNS_8DataTypeE",
        "_ZN2ge8Operator12AttrRegisterEPKcRKSt6vectorINS_12AscendStringESaIS4_EE",
        "_ZN2ge8Operator12AttrRegisterEPKcRKSt6vectorINS_8DataTypeESaIS4_EE",
        "_ZN2ge8Operator12AttrRegisterEPKcRKSt6vectorIS3_IlSaIlEESaIS5_EE",
        "_ZN2ge8Operator12AttrRegisterEPKcRKSt6vectorIfSaIfEE",
        "_ZN2ge8Operator12AttrRegisterEPKcRKSt6vectorIlSaIlEE",
        "_ZN2ge8Operator12AttrRegisterEPKcb",
        "_ZN2ge8Operator12AttrRegisterEPKcf",
        "_ZN2ge8Operator12AttrRegisterEPKcl";
    "ge::Operator::InputRegister":
        "_ZN2ge8Operator13InputRegisterEPKcS2_",
        "_ZN2ge8Operator13InputRegisterERKSs";
    "ge::Operator::OutputRegister":
        "_ZN2ge8Operator14OutputRegisterEPKcS2_",
        "_ZN2ge8Operator14OutputRegisterERKSs";
    "ge::Operator::AddControlInput":
        "_ZN2ge8Operator15AddControlInputERKS0_";
    "ge::Operator::UpdateInputDesc":
        "_ZN2ge8Operator15UpdateInputDescEPKcRKNS_10TensorDescE",
        "_ZN2ge8Operator15UpdateInputDescERKSsRKNS_10TensorDescE";
    "ge::Operator::DataTypeRegister":
        "_ZN2ge8Operator16DataTypeRegisterEPKcRKNS_10TensorTypeE",
        "_ZN2ge8Operator16DataTypeRegisterEPKcRKNS_7PromoteE";
    "ge::Operator::UpdateOutputDesc":
        "_ZN2ge8Operator16UpdateOutputDescEPKcRKNS_10TensorDescE",
        "_ZN2ge8Operator16UpdateOutputDescERKSsRKNS_10TensorDescE";
    "ge::Operator::InferFuncRegister":
        "_ZN2ge8Operator17InferFuncRegisterERKSt8functionIFjRS0_EE";
    "ge::Operator::SetSubgraphBuilder":
        "_ZN2ge8Operator18SetSubgraphBuilderEPKcjRKSt8functionIFNS_5GraphEvEE";
    "ge::Operator::DynamicInputRegister":
        "_ZN2ge8Operator20DynamicInputRegisterEPKcjS2_b",
        "_ZN2ge8Operator20DynamicInputRegisterEPKcjb";
    "ge::Operator::RequiredAttrRegister":
        "_ZN2ge8Operator20RequiredAttrRegisterERKSs";
    "ge::Operator::DynamicOutputRegister":
        "_ZN2ge8Operator21DynamicOutputRegisterEPKcjS2_b",
        "_ZN2ge8Operator21DynamicOutputRegisterEPKcjb";
    "ge::Operator::OptionalInputRegister":
        "_ZN2ge8Operator21OptionalInputRegisterEPKcS2_",
        "_ZN2ge8Operator21OptionalInputRegisterERKSs";
    "ge::Operator::SubgraphCountRegister":
        "_ZN2ge8Operator21SubgraphCountRegisterEPKcj";
    "ge::Operator::UpdateDynamicOutputDesc":
        "_ZN2ge8Operator23UpdateDynamicOutputDescEPKcjRKNS_10TensorDescE";
    "ge::Operator::DynamicInputRegisterByIndex":
        "_ZN2ge8Operator27DynamicInputRegisterByIndexEPKcjm";
    "ge::Operator::RequiredAttrWithTypeRegister":
        "_ZN2ge8Operator28RequiredAttrWithTypeRegisterEPKcS2_";
    "ge::Operator::SetAttr":
        "_ZN2ge8Operator7SetAttrEPKcRKNS_6TensorE",
        "_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIS3_IlSaIlEESaIS5_EE",
        "_ZN2ge8Operator7SetAttrERKSsRKSt6vectorIbSaIbEE";
    "ge::Operator::SetInput":
        "_ZN2ge8Operator8SetInputEPKcRKS0_",
        "_ZN2ge8Operator8SetInputEPKcjRKS0_",
        "_ZN2ge8Operator8SetInputEPKcjRKS0_S2_",
        "_ZN2ge8Operator8SetInputERKSsRKS0_",
        "_ZN2ge8Operator8SetInputERKSsRKS0_S2_";
    "ge::Operator::Operator":
        "_ZN2ge8OperatorC1ERKSs",
        "_ZN2ge8OperatorC1ERKSsS2_",
        "_ZN2ge8OperatorC2EPKc",
        "_ZN2ge8OperatorC2EPKcS2_",
        "_ZN2ge8OperatorC2ERKNS_12AscendStringES3_",
        "_ZN2ge8OperatorC2ERKSsS2_";
    "ge::TensorDesc::GetDataType":
        "_ZNK2ge10TensorDesc11GetDataTypeEv";
    "ge::TensorDesc::GetPlacement":
        "_ZNK2ge10TensorDesc12GetPlacementEv";
    "ge::TensorDesc::GetOriginShape":
        "_ZNK2ge10TensorDesc14GetOriginShapeEv";
    "ge::TensorDesc::GetShape":
        "_ZNK2ge10TensorDesc8GetShapeEv";
    "ge::TensorDesc::GetFormat":
        "_ZNK2ge10TensorDesc9GetFormatEv";
    "ge::GraphBuffer::GetData":
        "_ZNK2ge11GraphBuffer7GetDataEv";
    "ge::GraphBuffer::GetSize":
        "_ZNK2ge11GraphBuffer7GetSizeEv";
    "ge::AscendString::GetString":
        "_ZNK2ge12AscendString9GetStringEv";
    "ge::CompiledGraphSummary::GetEventNum":
        "_ZNK2ge20CompiledGraphSummary11GetEventNumERm";
    "ge::CompiledGraphSummary::GetStreamNum":
        "_ZNK2ge20CompiledGraphSummary12GetStreamNumERm";
    "ge::CompiledGraphSummary::GetOutputDtypes":
        "_ZNK2ge20CompiledGraphSummary15GetOutputDtypesERSt6vectorINS_8DataTypeESaIS2_EE";
    "ge::CompiledGraphSummary::GetOutputShapes":
        "_ZNK2ge20CompiledGraphSummary15GetOutputShapesERSt6vectorINS_5ShapeESaIS2_EE";
    "ge::CompiledGraphSummary::GetConstMemorySize":
        "_ZNK2ge20CompiledGraphSummary18GetConstMemorySizeERm";
    "ge::CompiledGraphSummary::GetFeatureMemorySize":
        "_ZNK2ge20CompiledGraphSummary20GetFeatureMemorySizeERm";
    "ge::CompiledGraphSummary::GetIOIndexesWithSameAddr":
        "_ZNK2ge20CompiledGraphSummary24GetIOIndexesWithSameAddrERSt6vectorISt4pairIjjESaIS3_EE";
    "ge::CompiledGraphSummary::GetFixedFeatureMemorySize":
        "_ZNK2ge20CompiledGraphSummary25GetFixedFeatureMemorySizeERm";
    "ge::CompiledGraphSummary::GetFeatureMemoryBaseRefreshable":
        "_ZNK2ge20CompiledGraphSummary31GetFeatureMemoryBaseRefreshableERb";
    "ge::CompiledGraphSummary::GetRefreshableFeatureMemorySize":
        "_ZNK2ge20CompiledGraphSummary31GetRefreshableFeatureMemorySizeERm";
    "ge::CompiledGraphSummary::IsStatic":
        "_ZNK2ge20CompiledGraphSummary8IsStaticEv";
    "ge::GNode::GetInputsSize":
        "_ZNK2ge5GNode13GetInputsSizeEv";
    "ge::GNode::GetOutputsSize":
        "_ZNK2ge5GNode14GetOutputsSizeEv";
    "ge::GNode::GetInControlNodes":
        "_ZNK2ge5GNode17GetInControlNodesEv";
    "ge::GNode::GetOutControlNodes":
        "_ZNK2ge5GNode18GetOutControlNodesEv";
    "ge::GNode::GetInDataNodesAndPortIndexs":
        "_ZNK2ge5GNode27GetInDataNodesAndPortIndexsEi";
    "ge::GNode::GetOutDataNodesAndPortIndexs":
        "_ZNK2ge5GNode28GetOutDataNodesAndPortIndexsEi";
    "ge::GNode::GetName":
        "_ZNK2ge5GNode7GetNameERNS_12AscendStringE";
    "ge::GNode::GetType":
        "_ZNK2ge5GNode7GetTypeERNS_12AscendStringE";
    "ge::Graph::SaveToFile":
        "_ZNK2ge5Graph10SaveToFileERKSs";
    "ge::Graph::GetDirectNode":
        "_ZNK2ge5Graph13GetDirectNodeEv";
    "ge::Graph::GetName":
        "_ZNK2ge5Graph7GetNameEv";
    "ge::Graph::SaveToMem":
        "_ZNK2ge5Graph9SaveToMemERNS_11GraphBufferE";
    "ge::Shape::GetDim":
        "_ZNK2ge5Shape6GetDimEm";
    "ge::Shape::GetDims":
        "_ZNK2ge5Shape7GetDimsEv";
    "ge::Shape::GetDimNum":
        "_ZNK2ge5Shape9GetDimNumEv";
    "ge::Tensor::GetTensorDesc":
        "_ZNK2ge6Tensor13GetTensorDescEv";
    "ge::Tensor::GetSize":
        "_ZNK2ge6Tensor7GetSizeEv";
    "ge::Operator::GetOutputDesc":
        "_ZNK2ge8Operator13GetOutputDescERKSs",
        "_ZNK2ge8Operator13GetOutputDescEj";
    "ge::Operator::GetDynamicOutputNum":
        "_ZNK2ge8Operator19GetDynamicOutputNumERKSs";
    "ge::Operator::GetAttr":
        "_ZNK2ge8Operator7GetAttrEPKcRNS_6TensorE",
        "_ZNK2ge8Operator7GetAttrEPKcRSt6vectorIS3_IlSaIlEESaIS5_EE";
    "ge::Operator::GetName":
        "_ZNK2ge8Operator7GetNameERNS_12AscendStringE",
        "_ZNK2ge8Operator7GetNameEv";
    "ge::Operator::GetOpType":
        "_ZNK2ge8Operator9GetOpTypeERNS_12AscendStringE",
        "_ZNK2ge8Operator9GetOpTypeEv";
}
