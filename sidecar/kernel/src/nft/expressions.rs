//! Expressions the wrapper of libnftnl has no type for. Numbers are those of `linux/netfilter/nf_tables.h`.

use std::ptr::NonNull;

use nftnl::{
    Rule,
    expr::{Expression, Register},
    nftnl_sys as sys,
};

use super::{
    ffi::{self, Expression as Raw},
    ruleset::{Limit, Log},
};

/// `fib daddr type`: loads the kind of the destination address (`RTN_*`) into register 1.
pub(super) struct DestinationType;

impl Expression for DestinationType {
    fn to_expr(&self, _: &Rule<'_>) -> NonNull<sys::nftnl_expr> {
        const NFT_FIB_RESULT_ADDRTYPE: u32 = 3;
        const NFTA_FIB_F_DADDR: u32 = 1 << 1;
        Raw::new(c"fib")
            .with(ffi::FIB_REGISTER, Register::Reg1.to_raw())
            .with(ffi::FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE)
            .with(ffi::FIB_FLAGS, NFTA_FIB_F_DADDR)
            .into_raw()
    }
}

/// `redirect` to the port in register 1.
pub(super) struct Redirect;

impl Expression for Redirect {
    fn to_expr(&self, _: &Rule<'_>) -> NonNull<sys::nftnl_expr> {
        const NF_NAT_RANGE_PROTO_SPECIFIED: u32 = 1 << 1;
        let port = Register::Reg1.to_raw();
        // The kernel takes a missing maximum for the minimum and lists both: said here, the copy read back is
        // the same.
        Raw::new(c"redir")
            .with(ffi::REDIRECT_PORT_MIN, port)
            .with(ffi::REDIRECT_PORT_MAX, port)
            .with(ffi::REDIRECT_FLAGS, NF_NAT_RANGE_PROTO_SPECIFIED)
            .into_raw()
    }
}

/// `numgen inc`: loads the packet's ordinal number among those that came here into register 1.
pub(super) struct OrdinalNumber;

impl OrdinalNumber {
    /// Numbers below this: all that fit but one, since it has to fit itself.
    pub(super) const MODULUS: u32 = super::NUMBERS;
}

impl Expression for OrdinalNumber {
    fn to_expr(&self, _: &Rule<'_>) -> NonNull<sys::nftnl_expr> {
        const NFT_NG_INCREMENTAL: u32 = 0;
        Raw::new(c"numgen")
            .with(ffi::NUMBER_REGISTER, Register::Reg1.to_raw())
            .with(ffi::NUMBER_MODULUS, Self::MODULUS)
            .with(ffi::NUMBER_TYPE, NFT_NG_INCREMENTAL)
            .into_raw()
    }
}

impl Expression for Limit {
    fn to_expr(&self, _: &Rule<'_>) -> NonNull<sys::nftnl_expr> {
        const NFT_LIMIT_PKTS: u32 = 0;
        const SECOND: u64 = 1;
        Raw::new(c"limit")
            .with(ffi::LIMIT_RATE, self.per_second)
            .with(ffi::LIMIT_UNIT, SECOND)
            .with(ffi::LIMIT_BURST, self.burst)
            .with(ffi::LIMIT_TYPE, NFT_LIMIT_PKTS)
            .into_raw()
    }
}

impl Expression for Log {
    fn to_expr(&self, _: &Rule<'_>) -> NonNull<sys::nftnl_expr> {
        Raw::new(c"log").with(ffi::LOG_GROUP, self.group).with(ffi::LOG_SNAPLEN, self.snaplen).into_raw()
    }
}
