// Integer conversions that can trap, distinguished from those that cannot.
//
// `Int64(x)` of the standard library is one generic initializer: the type of `x` decides whether it can trap, and the
// index of a build does not record that type. These overloads are chosen if the source type has values that the
// destination type lacks. They behave as the initializer of the standard library does, but have separate entries in the
// index, by which `Scripts/check-numbers` finds the conversions that need a bound. Numbers from outside the program are
// converted with `init(clamping:)` and `init(saturating:)` instead.

/// Returns the result of a conversion, and stops the program if there is none.
@inlinable
package func requiringExactly<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("The integer is out of range") }
    return value
}

/// An integer type with values that `Int8` does not have.
@usableFromInline package protocol ExceedsInt8: BinaryInteger {}
/// An integer type with values that `Int16` does not have.
@usableFromInline package protocol ExceedsInt16: BinaryInteger {}
/// An integer type with values that `Int32` does not have.
@usableFromInline package protocol ExceedsInt32: BinaryInteger {}
/// An integer type with values that `Int64` does not have.
@usableFromInline package protocol ExceedsInt64: BinaryInteger {}
/// An integer type with values that `Int128` does not have.
@usableFromInline package protocol ExceedsInt128: BinaryInteger {}
/// An integer type with values that `UInt8` does not have.
@usableFromInline package protocol ExceedsUInt8: BinaryInteger {}
/// An integer type with values that `UInt16` does not have.
@usableFromInline package protocol ExceedsUInt16: BinaryInteger {}
/// An integer type with values that `UInt32` does not have.
@usableFromInline package protocol ExceedsUInt32: BinaryInteger {}
/// An integer type with values that `UInt64` does not have.
@usableFromInline package protocol ExceedsUInt64: BinaryInteger {}
/// An integer type with values that `UInt128` does not have.
@usableFromInline package protocol ExceedsUInt128: BinaryInteger {}

extension Int8: ExceedsUInt8, ExceedsUInt16, ExceedsUInt32, ExceedsUInt64, ExceedsUInt128 {}
extension Int16: ExceedsInt8, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32, ExceedsUInt64, ExceedsUInt128 {}
extension Int32:
    ExceedsInt8, ExceedsInt16, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32, ExceedsUInt64, ExceedsUInt128
{}
extension Int:
    ExceedsInt8, ExceedsInt16, ExceedsInt32, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32, ExceedsUInt64,
    ExceedsUInt128
{}
extension Int64:
    ExceedsInt8, ExceedsInt16, ExceedsInt32, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32, ExceedsUInt64,
    ExceedsUInt128
{}
extension Int128:
    ExceedsInt8, ExceedsInt16, ExceedsInt32, ExceedsInt64, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32, ExceedsUInt64,
    ExceedsUInt128
{}
extension UInt8: ExceedsInt8 {}
extension UInt16: ExceedsInt8, ExceedsInt16, ExceedsUInt8 {}
extension UInt32: ExceedsInt8, ExceedsInt16, ExceedsInt32, ExceedsUInt8, ExceedsUInt16 {}
extension UInt: ExceedsInt8, ExceedsInt16, ExceedsInt32, ExceedsInt64, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32 {}
extension UInt64: ExceedsInt8, ExceedsInt16, ExceedsInt32, ExceedsInt64, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32 {}
extension UInt128:
    ExceedsInt8, ExceedsInt16, ExceedsInt32, ExceedsInt64, ExceedsInt128, ExceedsUInt8, ExceedsUInt16, ExceedsUInt32,
    ExceedsUInt64
{}

extension Int8 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsInt8) { self = requiringExactly(Self(exactly: source)) }
}

extension Int16 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsInt16) { self = requiringExactly(Self(exactly: source)) }
}

extension Int32 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsInt32) { self = requiringExactly(Self(exactly: source)) }
}

extension Int {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsInt64) { self = requiringExactly(Self(exactly: source)) }
}

extension Int64 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsInt64) { self = requiringExactly(Self(exactly: source)) }
}

extension Int128 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsInt128) { self = requiringExactly(Self(exactly: source)) }
}

extension UInt8 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsUInt8) { self = requiringExactly(Self(exactly: source)) }
}

extension UInt16 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsUInt16) { self = requiringExactly(Self(exactly: source)) }
}

extension UInt32 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsUInt32) { self = requiringExactly(Self(exactly: source)) }
}

extension UInt {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsUInt64) { self = requiringExactly(Self(exactly: source)) }
}

extension UInt64 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsUInt64) { self = requiringExactly(Self(exactly: source)) }
}

extension UInt128 {
    /// Creates an integer from another integer type, and stops the program if the value is out of range.
    @inlinable
    package init(_ source: some ExceedsUInt128) { self = requiringExactly(Self(exactly: source)) }
}
