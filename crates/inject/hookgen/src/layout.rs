//! Structs and unions with the layouts that the tables give.

use crate::ctype::CType;

/// A struct, or a union when all its members share offset 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    pub name: String,
    pub header: String,
    pub size: usize,
    pub align: usize,
    pub is_union: bool,
    pub members: Vec<StructMember>,
}

/// One member and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructMember {
    pub offset: usize,
    /// Empty for an anonymous union.
    pub name: String,
    pub kind: MemberKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberKind {
    Plain(CType),
    /// A union declared in place.
    Union {
        size: usize,
        members: Vec<StructMember>,
    },
}

impl Struct {
    /// Reads the `shape` and `fields` cells of the table.
    pub(crate) fn parse(
        name: &str,
        header: &str,
        shape: &str,
        fields: &str,
    ) -> Result<Self, String> {
        let words: Vec<&str> = shape.split_whitespace().collect();
        let ["size", size, "align", align] = words[..] else {
            return Err(format!("cannot read the shape `{shape}`"));
        };
        let number = |text: &str| {
            text.parse()
                .map_err(|_| format!("cannot read the shape `{shape}`"))
        };
        let members = parse_members(fields)?;
        let is_union = members.len() > 1 && members.iter().all(|member| member.offset == 0);
        Ok(Self {
            name: name.to_owned(),
            header: header.to_owned(),
            size: number(size)?,
            align: number(align)?,
            is_union,
            members,
        })
    }

    /// Whether a union lies anywhere directly in it.
    pub fn has_union(&self) -> bool {
        self.is_union
            || self
                .members
                .iter()
                .any(|m| matches!(m.kind, MemberKind::Union { .. }))
    }

    /// The names of the types of members that are held by value.
    pub fn values(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect_values(&self.members, &mut names);
        names
    }

    /// The types of all members, those of unions declared in place too.
    pub fn member_types(&self) -> Vec<&CType> {
        let mut types = Vec::new();
        collect_types(&self.members, &mut types);
        types
    }
}

fn collect_values<'a>(members: &'a [StructMember], names: &mut Vec<&'a str>) {
    for member in members {
        match &member.kind {
            MemberKind::Plain(ctype) if ctype.pointers.is_empty() && ctype.function.is_none() => {
                names.push(ctype.base_name());
            }
            MemberKind::Plain(_) => {}
            MemberKind::Union { members, .. } => collect_values(members, names),
        }
    }
}

fn collect_types<'a>(members: &'a [StructMember], types: &mut Vec<&'a CType>) {
    for member in members {
        match &member.kind {
            MemberKind::Plain(ctype) => types.push(ctype),
            MemberKind::Union { members, .. } => collect_types(members, types),
        }
    }
}

/// Members are in the order of their offsets. Those of a union follow it: named `union.member`, or,
/// when the union is anonymous, at its offset.
fn parse_members(fields: &str) -> Result<Vec<StructMember>, String> {
    let mut members: Vec<StructMember> = Vec::new();
    for field in fields
        .split(';')
        .map(str::trim)
        .filter(|field| !field.is_empty())
    {
        let (offset, declaration) = field
            .split_once(": ")
            .ok_or_else(|| format!("cannot read the field `{field}`"))?;
        let offset = offset
            .parse()
            .map_err(|_| format!("cannot read the offset of `{field}`"))?;
        if let Some(union) = declaration.strip_prefix("union ") {
            members.push(parse_union(offset, union)?);
            continue;
        }
        let (ctype, path) = CType::parse_declaration(declaration)?;
        let (owner, name) = path.split_once('.').unwrap_or(("", &path));
        let member = StructMember {
            offset,
            name: name.to_owned(),
            kind: MemberKind::Plain(ctype),
        };
        match members.last_mut() {
            Some(StructMember {
                offset: start,
                name,
                kind: MemberKind::Union { size, members },
            }) if name == owner && offset < *start + *size => {
                members.push(member);
            }
            _ if owner.is_empty() => members.push(member),
            _ => return Err(format!("`{path}` does not follow its union")),
        }
    }
    Ok(members)
}

fn parse_union(offset: usize, text: &str) -> Result<StructMember, String> {
    let (name, size) = text
        .strip_suffix(" B)")
        .and_then(|text| text.rsplit_once(" ("))
        .ok_or_else(|| format!("cannot read the union `{text}`"))?;
    let size = size
        .parse()
        .map_err(|_| format!("cannot read the size of the union `{text}`"))?;
    let name = if name == "(anonymous)" { "" } else { name };
    Ok(StructMember {
        offset,
        name: name.to_owned(),
        kind: MemberKind::Union {
            size,
            members: Vec::new(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(members: &[StructMember]) -> Vec<&str> {
        members.iter().map(|member| member.name.as_str()).collect()
    }

    #[test]
    fn members_of_unions_are_put_into_them() {
        let fields =
            "0: int kind; 8: union value (16 B); 8: int value.a; 8: long[2] value.b; 24: int z";
        let layout = Struct::parse("s", "h", "size 32 align 8", fields).unwrap();
        assert_eq!(names(&layout.members), ["kind", "value", "z"]);
        let MemberKind::Union { members, size } = &layout.members[1].kind else {
            panic!()
        };
        assert_eq!((*size, names(members)), (16, vec!["a", "b"]));
        assert!(layout.has_union() && !layout.is_union);
    }

    #[test]
    fn an_anonymous_union_ends_where_its_bytes_end() {
        let fields = "0: union (anonymous) (8 B); 0: long a; 0: void * b; 8: int c";
        let layout = Struct::parse("s", "h", "size 16 align 8", fields).unwrap();
        assert_eq!(names(&layout.members), ["", "c"]);
        assert_eq!(layout.values(), ["long", "int"]);
        assert_eq!(layout.member_types().len(), 3);
    }

    #[test]
    fn members_with_offset_zero_make_a_union() {
        let layout = Struct::parse("u", "h", "size 8 align 8", "0: long a; 0: int b").unwrap();
        assert!(layout.is_union);
        let single = Struct::parse("s", "h", "size 4 align 4", "0: int a").unwrap();
        assert!(!single.is_union);
    }

    #[test]
    fn a_union_member_without_its_union_is_refused() {
        let error = Struct::parse("s", "h", "size 4 align 4", "0: int value.a")
            .err()
            .unwrap();
        assert_eq!(error, "`value.a` does not follow its union");
    }
}
