// Saturating arithmetic for numbers from outside the program: a result that is out of range becomes the nearest bound.
//
// `a +| b` is the saturating form of `a + b`, as `a &+ b` is the wrapping form. The named functions are easier to read
// in a chain of calls.
//
// `Int(clamping:)` of the standard library converts between integer types in the same way.

extension FixedWidthInteger {
    /// Creates the integer nearest to a floating-point number, rounded toward zero.
    ///
    /// Numbers out of range, including infinities, become the minimum or maximum of the type; NaN becomes 0.
    ///
    /// - Parameter value: Any number. Round it first if truncation is not wanted.
    @inlinable
    package init(saturating value: Double) {
        // After truncation, only NaN and numbers out of range have no exact integer value.
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }

    /// Returns the sum, clamped to the range of the type.
    @inlinable
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the range of the type.
    @inlinable
    package func subtractingSaturated(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        // Unsigned differences overflow only below zero.
        return overflow ? (Self.isSigned && other < 0 ? .max : .min) : difference
    }

    /// Returns the product, clamped to the range of the type.
    @inlinable
    package func multipliedSaturated(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// Returns the quotient, rounded toward zero; the minimum divided by −1 gives the maximum.
    ///
    /// Division by zero gives 0 for a zero dividend, else the bound with the sign of the dividend.
    @inlinable
    package func dividedSaturated(by other: Self) -> Self {
        guard other != 0 else { return self == 0 ? 0 : self < 0 ? .min : .max }
        let (quotient, overflow) = dividedReportingOverflow(by: other)
        return overflow ? .max : quotient
    }

    /// Returns the number with the opposite sign, clamped to the range of the type.
    ///
    /// The minimum of a signed type gives its maximum; every unsigned number gives 0.
    @inlinable
    package func negatedSaturated() -> Self { (0 as Self).subtractingSaturated(self) }
}

infix operator +| : AdditionPrecedence
infix operator -| : AdditionPrecedence
infix operator *| : MultiplicationPrecedence
infix operator +|= : AssignmentPrecedence
infix operator -|= : AssignmentPrecedence
infix operator *|= : AssignmentPrecedence

extension FixedWidthInteger {
    /// Returns the sum, clamped to the range of the type.
    @inlinable
    package static func +| (left: Self, right: Self) -> Self { left.addingSaturated(right) }

    /// Returns the difference, clamped to the range of the type.
    @inlinable
    package static func -| (left: Self, right: Self) -> Self { left.subtractingSaturated(right) }

    /// Returns the product, clamped to the range of the type.
    @inlinable
    package static func *| (left: Self, right: Self) -> Self { left.multipliedSaturated(by: right) }

    /// Adds a number and clamps the result to the range of the type.
    @inlinable
    package static func +|= (left: inout Self, right: Self) { left = left.addingSaturated(right) }

    /// Subtracts a number and clamps the result to the range of the type.
    @inlinable
    package static func -|= (left: inout Self, right: Self) { left = left.subtractingSaturated(right) }

    /// Multiplies by a number and clamps the result to the range of the type.
    @inlinable
    package static func *|= (left: inout Self, right: Self) { left = left.multipliedSaturated(by: right) }
}

/// Returns the absolute value of an integer, clamped to the range of the type.
///
/// Shadows the standard library's function, which traps for the minimum of the type.
@inlinable
package func abs<Number: FixedWidthInteger & SignedInteger>(_ number: Number) -> Number {
    number < 0 ? number.negatedSaturated() : number
}
