//! `ge::Operator` and its factory, as far as clients need them for operators that they call by name: MindSpore asks whether an
//! operator exists, and converts its attributes by setting them and getting them back. No graph contains such an operator.
//!
//! In the platform's C++ interface, an `Operator` is a pointer to its table of functions, and a shared pointer. The object of
//! the shared pointer is a number here, and there is no control block: an operator stays. Clients make one of each type.
//! The symbols have the texts and arrays of libstdc++: a text is the address of its characters, with the length, the room and
//! the number of other owners in front of them; an array is the addresses of its begin, its end and the end of its room.

use std::collections::HashMap;

use super::graph_engine::{GRAPH_FAILED, GRAPH_SUCCESS, GraphStatus};
use crate::aclop;
use crate::ffi::{In, Out, Text};
use crate::sync::{Mutex, lock};

/// The words in front of a text: its length, its room, and its other owners.
const TEXT_HEAD: usize = 3 * size_of::<usize>();

/// An attribute of an operator.
#[derive(Clone, Debug, PartialEq)]
enum Attribute {
    Truth(bool),
    Integer(i64),
    Float(f32),
    Type(i32),
    Text(String),
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Types(Vec<i32>),
    Texts(Vec<String>),
}

/// The attributes of all operators that were made.
static OPERATORS: Mutex<Vec<HashMap<String, Attribute>>> = Mutex::new(Vec::new());

/// An operator of a client: the table of its functions, its number here, and no control block.
#[derive(Clone, Copy)]
#[repr(C)]
struct Operator {
    functions: usize,
    number: usize,
    control: usize,
}

/// `std::string const&`.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct SharedText(usize);

impl SharedText {
    fn get(self) -> Option<String> {
        let characters = In::<usize>::at(self.0).optional()?;
        let length = In::<usize>::at(characters.checked_sub(TEXT_HEAD)?).optional()?;
        let bytes = In::<u8>::at(characters).array(length).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Stores a text. The one before has other owners, or stays.
    fn put(self, text: &str) -> Option<()> {
        let length = text.len();
        let head = allocate(TEXT_HEAD + length + 1)?;
        Out::<usize>::at(head).put_all(&[length, length, 0]);
        let characters = head + TEXT_HEAD;
        Out::at(characters).put_text(text);
        Out::<usize>::at(self.0).put(characters).ok()
    }
}

/// `std::vector const&`.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Array(usize);

impl Array {
    fn get<T: Copy>(self) -> Option<Vec<T>> {
        let [begin, end, _] = In::<[usize; 3]>::at(self.0).optional()?;
        match end.checked_sub(begin)? / size_of::<T>() {
            0 => Some(Vec::new()),
            length => In::<T>::at(begin).array(length).ok(),
        }
    }

    /// Stores elements. An array with too little room gets another; the one before stays.
    fn put<T: Copy>(self, elements: &[T]) -> Option<()> {
        let [mut begin, _, mut room] = In::<[usize; 3]>::at(self.0).optional()?;
        let size = size_of_val(elements);
        if room.checked_sub(begin)? < size {
            begin = allocate(size)?;
            room = begin + size;
        }
        for (index, element) in elements.iter().enumerate() {
            Out::<T>::at(begin + index * size_of::<T>())
                .put(*element)
                .ok()?;
        }
        Out::<[usize; 3]>::at(self.0)
            .put([begin, begin + size, room])
            .ok()
    }

    fn texts(self) -> Option<Vec<String>> {
        let [begin, end, _] = In::<[usize; 3]>::at(self.0).optional()?;
        let texts = (begin..end).step_by(size_of::<usize>());
        texts.map(|it| SharedText(it).get()).collect()
    }
}

/// Memory that the client frees, with the allocator of the C library: libstdc++ allocates there.
fn allocate(size: usize) -> Option<usize> {
    // SAFETY: the allocator has no conditions.
    let address = unsafe { libc::malloc(size.max(1)) } as usize;
    (address != 0).then_some(address)
}

/// A name: the interface has each function for both kinds.
trait Name {
    fn name(&self) -> Option<String>;
}

impl Name for Text {
    fn name(&self) -> Option<String> {
        self.optional()
    }
}

impl Name for SharedText {
    fn name(&self) -> Option<String> {
        self.get()
    }
}

/// Keeps an attribute. Without a name, it does nothing.
fn set(operator: &Out<Operator>, name: &impl Name, value: Option<Attribute>) {
    let (Ok(operator), Some(name), Some(value)) = (operator.get(), name.name(), value) else {
        return;
    };
    if let Some(attributes) = lock(&OPERATORS).get_mut(operator.number.wrapping_sub(1)) {
        attributes.insert(name, value);
    }
}

/// Passes an attribute on, if there is one that `put` takes. Without one, the result is a failure and `absent` puts a value:
/// MindSpore does not look at the status, and would pass on uninitialised memory.
fn get(
    operator: &Out<Operator>,
    name: &impl Name,
    put: impl FnOnce(&Attribute) -> Option<()>,
    absent: impl FnOnce(),
) -> GraphStatus {
    let found = operator.get().ok().zip(name.name());
    let done = found.and_then(|(operator, name)| {
        let operators = lock(&OPERATORS);
        put(operators.get(operator.number.wrapping_sub(1))?.get(&name)?)
    });
    match done {
        Some(()) => GRAPH_SUCCESS,
        None => {
            absent();
            GRAPH_FAILED
        }
    }
}

macro_rules! exist {
    ($($symbol:literal: $name:ty),*) => {
        $(const _: () = {
            // SAFETY: the name is that of the function; nothing else in this library defines it.
            #[unsafe(export_name = $symbol)]
            extern "C" fn exists(name: $name) -> bool {
                name.name().is_some_and(|name| aclop::exists(&name))
            }
        };)*
    };
}

// `ge::OperatorFactory::IsExistOp`: the operators that can be called by name.
exist! {
    "_ZN2ge15OperatorFactory9IsExistOpEPKc": Text,
    "_ZN2ge15OperatorFactory9IsExistOpERKSs": SharedText
}

macro_rules! create {
    ($($symbol:literal: $name:ty),*) => {
        $(const _: () = {
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn create(made: Out<Operator>, _name: $name, _type: $name) -> Out<Operator> {
                let mut operators = lock(&OPERATORS);
                operators.push(HashMap::new());
                made.put_if_wanted(Operator {
                    functions: 0,
                    number: operators.len(),
                    control: 0,
                });
                made
            }
        };)*
    };
}

// `ge::OperatorFactory::CreateOperator`. The result of a C++ function that returns an object is at the first argument.
create! {
    "_ZN2ge15OperatorFactory14CreateOperatorEPKcS2_": Text,
    "_ZN2ge15OperatorFactory14CreateOperatorERKSsS2_": SharedText
}

macro_rules! setters {
    ($($symbol:literal: |$name:ty, $value:ident: $type:ty| $attribute:expr;)*) => {
        $(const _: () = {
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn set_attribute(this: Out<Operator>, name: $name, $value: $type) -> Out<Operator> {
                set(&this, &name, $attribute);
                this
            }
        };)*
    };
}

setters! {
    "_ZN2ge8Operator7SetAttrEPKcRKNS_8DataTypeE": |Text, it: In<i32>| it.optional().map(Attribute::Type);
    "_ZN2ge8Operator7SetAttrEPKcRKSt6vectorINS_8DataTypeESaIS4_EE": |Text, it: Array| it.get().map(Attribute::Types);
    "_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIfSaIfEE": |Text, it: Array| it.get().map(Attribute::Floats);
    "_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIiSaIiEE": |Text, it: Array| widened(it).map(Attribute::Integers);
    "_ZN2ge8Operator7SetAttrEPKcRKSt6vectorIlSaIlEE": |Text, it: Array| it.get().map(Attribute::Integers);
    "_ZN2ge8Operator7SetAttrEPKcS2_": |Text, it: Text| it.optional().map(Attribute::Text);
    "_ZN2ge8Operator7SetAttrEPKcb": |Text, it: bool| Some(Attribute::Truth(it));
    "_ZN2ge8Operator7SetAttrEPKcf": |Text, it: f32| Some(Attribute::Float(it));
    "_ZN2ge8Operator7SetAttrEPKci": |Text, it: i32| Some(Attribute::Integer(it.into()));
    "_ZN2ge8Operator7SetAttrEPKcj": |Text, it: u32| Some(Attribute::Integer(it.into()));
    "_ZN2ge8Operator7SetAttrEPKcl": |Text, it: i64| Some(Attribute::Integer(it));
    "_ZN2ge8Operator7SetAttrERKSsRKSt6vectorISsSaISsEE": |SharedText, it: Array| it.texts().map(Attribute::Texts);
    "_ZN2ge8Operator7SetAttrERKSsRKSt6vectorIfSaIfEE": |SharedText, it: Array| it.get().map(Attribute::Floats);
    "_ZN2ge8Operator7SetAttrERKSsRKSt6vectorIiSaIiEE": |SharedText, it: Array| widened(it).map(Attribute::Integers);
    "_ZN2ge8Operator7SetAttrERKSsRKSt6vectorIlSaIlEE": |SharedText, it: Array| it.get().map(Attribute::Integers);
    "_ZN2ge8Operator7SetAttrERKSsS2_": |SharedText, it: SharedText| it.get().map(Attribute::Text);
    "_ZN2ge8Operator7SetAttrERKSsb": |SharedText, it: bool| Some(Attribute::Truth(it));
    "_ZN2ge8Operator7SetAttrERKSsf": |SharedText, it: f32| Some(Attribute::Float(it));
    "_ZN2ge8Operator7SetAttrERKSsi": |SharedText, it: i32| Some(Attribute::Integer(it.into()));
    "_ZN2ge8Operator7SetAttrERKSsl": |SharedText, it: i64| Some(Attribute::Integer(it));
}

fn widened(array: Array) -> Option<Vec<i64>> {
    let numbers = array.get::<i32>()?.into_iter();
    Some(numbers.map(i64::from).collect())
}

fn narrowed(numbers: &[i64]) -> Option<Vec<i32>> {
    let numbers = numbers.iter().map(|it| i32::try_from(*it).ok());
    numbers.collect()
}

macro_rules! getters {
    ($($symbol:literal: |$name:ty, $out:ident: $type:ty| $pattern:pat => $put:expr $(, or $absent:expr)?;)*) => {
        $(const _: () = {
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn get_attribute(this: Out<Operator>, name: $name, $out: $type) -> GraphStatus {
                let take = |attribute: &Attribute| match attribute {
                    $pattern => $put,
                    _ => None,
                };
                get(&this, &name, take, || {
                    $($out.put_if_wanted($absent);)?
                })
            }
        };)*
    };
}

getters! {
    "_ZNK2ge8Operator7GetAttrEPKcRNS_8DataTypeE": |Text, out: Out<i32>| Attribute::Type(it) => out.put(*it).ok();
    "_ZNK2ge8Operator7GetAttrEPKcRSt6vectorINS_8DataTypeESaIS4_EE": |Text, out: Array| Attribute::Types(it) => out.put(it);
    "_ZNK2ge8Operator7GetAttrEPKcRSt6vectorIfSaIfEE": |Text, out: Array| Attribute::Floats(it) => out.put(it);
    "_ZNK2ge8Operator7GetAttrEPKcRSt6vectorIiSaIiEE": |Text, out: Array| Attribute::Integers(it) => out.put(&narrowed(it)?);
    "_ZNK2ge8Operator7GetAttrEPKcRSt6vectorIlSaIlEE": |Text, out: Array| Attribute::Integers(it) => out.put(it);
    "_ZNK2ge8Operator7GetAttrEPKcRb": |Text, out: Out<bool>| Attribute::Truth(it) => out.put(*it).ok(), or false;
    "_ZNK2ge8Operator7GetAttrEPKcRf": |Text, out: Out<f32>| Attribute::Float(it) => out.put(*it).ok(), or 0.0;
    "_ZNK2ge8Operator7GetAttrEPKcRi": |Text, out: Out<i32>| Attribute::Integer(it) => out.put(i32::try_from(*it).ok()?).ok(), or 0;
    "_ZNK2ge8Operator7GetAttrEPKcRl": |Text, out: Out<i64>| Attribute::Integer(it) => out.put(*it).ok(), or 0;
    "_ZNK2ge8Operator7GetAttrERKSsRSs": |SharedText, out: SharedText| Attribute::Text(it) => out.put(it);
    "_ZNK2ge8Operator7GetAttrERKSsRSt6vectorISsSaISsEE": |SharedText, out: Array| Attribute::Texts(it) => put_texts(out, it);
}

/// Stores texts: each is the address of its characters.
fn put_texts(array: Array, texts: &[String]) -> Option<()> {
    array.put(&vec![0_usize; texts.len()])?;
    let [begin, ..] = In::<[usize; 3]>::at(array.0).optional()?;
    for (index, text) in texts.iter().enumerate() {
        SharedText(begin + index * size_of::<usize>()).put(text)?;
    }
    Some(())
}
