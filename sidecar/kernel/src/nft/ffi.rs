//! All calls into libnftnl that its safe wrapper doesn't offer, each behind a safe function.

use std::{
    alloc::{Layout, handle_alloc_error},
    ffi::{CStr, c_char, c_void},
    marker::PhantomData,
    ptr::{self, NonNull},
};

use nftnl::{
    MsgType, NlMsg,
    nftnl_sys::{self as sys, libc::nlmsghdr},
};

/// An attribute of one kind of expression, with the type libnftnl copies for it. libnftnl takes the size from
/// its own table whatever the caller passes, so only this file makes these.
pub(super) struct Attribute<T> {
    number: u32,
    value: PhantomData<T>,
}

impl<T> Attribute<T> {
    const fn new(number: u32) -> Self {
        Self { number, value: PhantomData }
    }
}

pub(super) const FIB_REGISTER: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_FIB_DREG);
pub(super) const FIB_RESULT: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_FIB_RESULT);
pub(super) const FIB_FLAGS: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_FIB_FLAGS);
pub(super) const REDIRECT_PORT_MIN: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_REDIR_REG_PROTO_MIN);
pub(super) const REDIRECT_PORT_MAX: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_REDIR_REG_PROTO_MAX);
pub(super) const REDIRECT_FLAGS: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_REDIR_FLAGS);
pub(super) const LIMIT_RATE: Attribute<u64> = Attribute::new(sys::NFTNL_EXPR_LIMIT_RATE);
pub(super) const LIMIT_UNIT: Attribute<u64> = Attribute::new(sys::NFTNL_EXPR_LIMIT_UNIT);
pub(super) const LIMIT_BURST: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_LIMIT_BURST);
pub(super) const LIMIT_TYPE: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_LIMIT_TYPE);
pub(super) const NUMBER_REGISTER: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_NG_DREG);
pub(super) const NUMBER_MODULUS: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_NG_MODULUS);
pub(super) const NUMBER_TYPE: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_NG_TYPE);
pub(super) const LOG_GROUP: Attribute<u16> = Attribute::new(sys::NFTNL_EXPR_LOG_GROUP);
pub(super) const LOG_SNAPLEN: Attribute<u32> = Attribute::new(sys::NFTNL_EXPR_LOG_SNAPLEN);

/// Integers an expression attribute can hold.
pub(super) trait Integer: Copy {}
impl Integer for u16 {}
impl Integer for u32 {}
impl Integer for u64 {}

/// A new expression, owned until it is given to a rule.
pub(super) struct Expression(NonNull<sys::nftnl_expr>);

impl Expression {
    /// Aborts when memory is exhausted, like every allocation of Rust. The names used are known to libnftnl
    /// since long before the version linked.
    pub(super) fn new(name: &CStr) -> Self {
        // SAFETY: the name is NUL-terminated and only read during the call.
        Self(allocated(unsafe { sys::nftnl_expr_alloc(name.as_ptr()) }))
    }

    pub(super) fn with<T: Integer>(self, attribute: Attribute<T>, value: T) -> Self {
        // SAFETY: the expression is alive and exclusively ours; the value is a plain integer of the size that
        // libnftnl copies for this attribute, and is only read during the call.
        unsafe {
            sys::nftnl_expr_set(
                self.0.as_ptr(),
                attribute.number as u16,
                ptr::from_ref(&value).cast::<c_void>(),
                size_of::<T>() as u32,
            );
        }
        self
    }

    /// The expression for [`nftnl::expr::Expression::to_expr`], whose caller owns what it gets.
    pub(super) fn into_raw(self) -> NonNull<sys::nftnl_expr> {
        let raw = self.0;
        std::mem::forget(self);
        raw
    }
}

impl Drop for Expression {
    fn drop(&mut self) {
        // SAFETY: we own the expression, and nothing uses it after this.
        unsafe { sys::nftnl_expr_free(self.0.as_ptr()) }
    }
}

/// The message that would add an object, as the kernel would get it.
pub(super) fn message_of(object: &impl NlMsg) -> Vec<u8> {
    let mut buffer = vec![0_u32; (nftnl::nft_nlmsg_maxsize() as usize).div_ceil(size_of::<u32>())];
    // SAFETY: the buffer has room for the largest message there is, which is what `write` asks for, and the
    // alignment of a header.
    unsafe { object.write(buffer.as_mut_ptr().cast::<c_void>(), 0, MsgType::Add) };
    // The message is a multiple of four long, as all its attributes are padded.
    let length = buffer.first().map_or(0, |length| *length as usize);
    buffer.truncate(length.div_ceil(size_of::<u32>()));
    buffer.into_iter().flat_map(u32::to_ne_bytes).collect()
}

/// A netlink message at an address a header may be read from, exactly as long as its header says.
struct Aligned(Vec<u32>);

impl Aligned {
    fn new(message: &[u8]) -> Option<Self> {
        let length = u32::from_ne_bytes(*message.first_chunk()?);
        // The fixed part of every nf_tables message: netlink's header, then the family's of four bytes.
        let whole =
            message.len() >= size_of::<nlmsghdr>() + 4 && usize::try_from(length) == Ok(message.len());
        whole.then(|| {
            let words = message.chunks(size_of::<u32>()).map(|chunk| {
                let mut word = [0; size_of::<u32>()];
                word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
                u32::from_ne_bytes(word)
            });
            Self(words.collect())
        })
    }

    fn header(&self) -> *const nlmsghdr {
        self.0.as_ptr().cast()
    }
}

/// A rule as libnftnl understands a message.
pub(super) struct ParsedRule(NonNull<sys::nftnl_rule>);

impl ParsedRule {
    /// `None` if the message isn't a rule or has an expression libnftnl doesn't know.
    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let message = Aligned::new(message)?;
        // SAFETY: takes nothing, gives an owned object or null.
        let rule = Self(allocated(unsafe { sys::nftnl_rule_alloc() }));
        // SAFETY: the header is aligned and followed by as many bytes as its length says (`Aligned`); libnftnl
        // checks attributes against that length. The rule is alive and exclusively ours.
        (unsafe { sys::nftnl_rule_nlmsg_parse(message.header(), rule.0.as_ptr()) } == 0).then_some(rule)
    }

    pub(super) fn table(&self) -> Option<String> {
        self.string(sys::NFTNL_RULE_TABLE)
    }

    pub(super) fn chain(&self) -> Option<String> {
        self.string(sys::NFTNL_RULE_CHAIN)
    }

    fn string(&self, attribute: sys::nftnl_rule_attr) -> Option<String> {
        // SAFETY: the rule is alive; the string is its own, NUL-terminated, and copied before it can change.
        unsafe { copied(sys::nftnl_rule_get_str(self.0.as_ptr(), attribute as u16)) }
    }

    /// Bytes userspace attached to the rule; nft keeps the comment in them.
    pub(super) fn userdata(&self) -> Vec<u8> {
        let mut length = 0_u32;
        // SAFETY: the rule is alive; `length` outlives the call.
        let data = unsafe {
            sys::nftnl_rule_get_data(self.0.as_ptr(), sys::NFTNL_RULE_USERDATA as u16, &raw mut length)
        };
        if data.is_null() {
            return Vec::new();
        }
        // SAFETY: libnftnl returned a pointer to `length` initialised bytes owned by the rule, which is alive.
        unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length as usize) }.to_vec()
    }

    /// Packets and bytes of the first counter. All counters are zero afterwards, and what the kernel numbers
    /// rules with is gone: two rules that do the same print the same.
    pub(super) fn normalise(&mut self) -> Option<(u64, u64)> {
        let mut first = None;
        // SAFETY: the rule is alive and stays unchanged, but for values inside its expressions, until the
        // iterator is gone. Expressions are owned by the rule and used only here; packets and bytes of a
        // counter are 64 bits wide.
        unsafe {
            for attribute in [sys::NFTNL_RULE_HANDLE, sys::NFTNL_RULE_POSITION] {
                sys::nftnl_rule_unset(self.0.as_ptr(), attribute as u16);
            }
            let iterator = allocated(sys::nftnl_expr_iter_create(self.0.as_ptr()));
            while let Some(expression) = NonNull::new(sys::nftnl_expr_iter_next(iterator.as_ptr())) {
                let expression = expression.as_ptr();
                let name = copied(sys::nftnl_expr_get_str(expression, sys::NFTNL_EXPR_NAME as u16));
                if name.as_deref() == Some("counter") {
                    let [packets, bytes] =
                        [sys::NFTNL_EXPR_CTR_PACKETS, sys::NFTNL_EXPR_CTR_BYTES].map(|number| {
                            let value = sys::nftnl_expr_get_u64(expression, number as u16);
                            sys::nftnl_expr_set_u64(expression, number as u16, 0);
                            value
                        });
                    first = first.or(Some((packets, bytes)));
                }
            }
            sys::nftnl_expr_iter_destroy(iterator.as_ptr());
        }
        first
    }

    /// The rule's bytecode, one expression a line.
    pub(super) fn print(&self) -> String {
        printed(|buffer, size| {
            // SAFETY: the rule is alive; libnftnl writes at most `size` bytes to the buffer.
            unsafe { sys::nftnl_rule_snprintf(buffer, size, self.0.as_ptr(), sys::NFTNL_OUTPUT_DEFAULT, 0) }
        })
    }
}

impl Drop for ParsedRule {
    fn drop(&mut self) {
        // SAFETY: we own the rule, and nothing uses it after this.
        unsafe { sys::nftnl_rule_free(self.0.as_ptr()) }
    }
}

/// A chain as libnftnl understands a message.
pub(super) struct ParsedChain(NonNull<sys::nftnl_chain>);

impl ParsedChain {
    /// `None` if the message isn't a chain.
    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let message = Aligned::new(message)?;
        // SAFETY: takes nothing, gives an owned object or null.
        let chain = Self(allocated(unsafe { sys::nftnl_chain_alloc() }));
        // SAFETY: as in `ParsedRule::parse`.
        (unsafe { sys::nftnl_chain_nlmsg_parse(message.header(), chain.0.as_ptr()) } == 0).then_some(chain)
    }

    pub(super) fn table(&self) -> Option<String> {
        self.string(sys::NFTNL_CHAIN_TABLE)
    }

    pub(super) fn name(&self) -> Option<String> {
        self.string(sys::NFTNL_CHAIN_NAME)
    }

    pub(super) fn kind(&self) -> Option<String> {
        self.string(sys::NFTNL_CHAIN_TYPE)
    }

    pub(super) fn hook(&self) -> Option<u32> {
        self.integer(sys::NFTNL_CHAIN_HOOKNUM)
    }

    pub(super) fn priority(&self) -> Option<i32> {
        self.integer(sys::NFTNL_CHAIN_PRIO).map(u32::cast_signed)
    }

    pub(super) fn policy(&self) -> Option<u32> {
        self.integer(sys::NFTNL_CHAIN_POLICY)
    }

    fn string(&self, attribute: sys::nftnl_chain_attr) -> Option<String> {
        // SAFETY: as in `ParsedRule::string`.
        unsafe { copied(sys::nftnl_chain_get_str(self.0.as_ptr(), attribute as u16)) }
    }

    fn integer(&self, attribute: sys::nftnl_chain_attr) -> Option<u32> {
        let attribute = attribute as u16;
        // SAFETY: the chain is alive; the three attributes asked for are 32 bits wide.
        unsafe {
            sys::nftnl_chain_is_set(self.0.as_ptr(), attribute)
                .then(|| sys::nftnl_chain_get_u32(self.0.as_ptr(), attribute))
        }
    }
}

impl Drop for ParsedChain {
    fn drop(&mut self) {
        // SAFETY: we own the chain, and nothing uses it after this.
        unsafe { sys::nftnl_chain_free(self.0.as_ptr()) }
    }
}

/// A table as libnftnl understands a message.
pub(super) struct ParsedTable(NonNull<sys::nftnl_table>);

impl ParsedTable {
    /// `None` if the message isn't a table.
    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let message = Aligned::new(message)?;
        // SAFETY: takes nothing, gives an owned object or null.
        let table = Self(allocated(unsafe { sys::nftnl_table_alloc() }));
        // SAFETY: as in `ParsedRule::parse`.
        (unsafe { sys::nftnl_table_nlmsg_parse(message.header(), table.0.as_ptr()) } == 0).then_some(table)
    }

    pub(super) fn name(&self) -> Option<String> {
        // SAFETY: as in `ParsedRule::string`.
        unsafe { copied(sys::nftnl_table_get_str(self.0.as_ptr(), sys::NFTNL_TABLE_NAME as u16)) }
    }

    /// `NFT_TABLE_F_*`.
    pub(super) fn flags(&self) -> u32 {
        // SAFETY: the table is alive; libnftnl gives 0 for an attribute that isn't set.
        unsafe { sys::nftnl_table_get_u32(self.0.as_ptr(), sys::NFTNL_TABLE_FLAGS as u16) }
    }
}

impl Drop for ParsedTable {
    fn drop(&mut self) {
        // SAFETY: we own the table, and nothing uses it after this.
        unsafe { sys::nftnl_table_free(self.0.as_ptr()) }
    }
}

fn allocated<T>(object: *mut T) -> NonNull<T> {
    NonNull::new(object).unwrap_or_else(|| handle_alloc_error(Layout::new::<*mut c_void>()))
}

/// # Safety
/// `string` is null or points to a NUL-terminated string that lives through the call.
unsafe fn copied(string: *const c_char) -> Option<String> {
    // SAFETY: demanded of the caller.
    (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned())
}

/// Calls a function of `snprintf`'s manner with a buffer that turns out large enough.
fn printed(print: impl Fn(*mut c_char, usize) -> i32) -> String {
    let mut buffer = vec![0_u8; 1024];
    loop {
        let length = usize::try_from(print(buffer.as_mut_ptr().cast(), buffer.len())).unwrap_or(0);
        if length < buffer.len() {
            buffer.truncate(length);
            return String::from_utf8_lossy(&buffer).into_owned();
        }
        buffer.resize(length + 1, 0);
    }
}
