// Arithmetic for numbers that come from outside: a result that does not fit becomes the nearest one that does.
//
// `a +| b` is `a + b` that saturates, as `a &+ b` is the one that wraps around. The named functions read better where an
// expression is a chain of calls.
//
// `Int(clamping:)` of the standard library converts between integers in the same way.

extension FixedWidthInteger {
    /// Creates the integer nearest to a floating-point number, rounded toward zero.
    ///
    /// Numbers out of range, infinities among them, become the least or the greatest value; NaN becomes 0.
    ///
    /// - Parameter value: Any number. Round it first where truncation is not meant.
    @inlinable
    package init(saturating value: Double) {
        // Truncated, so that only what is out of range, or no number, has no exact counterpart.
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }

    /// Returns the sum, or the bound of the type beyond which it lies.
    @inlinable
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the bound of the type beyond which it lies.
    @inlinable
    package func subtractingSaturated(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        // Unsigned differences overflow only below zero.
        return overflow ? (Self.isSigned && other < 0 ? .max : .min) : difference
    }

    /// Returns the product, or the bound of the type beyond which it lies.
    @inlinable
    package func multipliedSaturated(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// Returns the quotient, rounded toward zero; the least value divided by −1 gives the greatest one.
    ///
    /// Division by zero gives the bound on the side of the dividend's sign, and 0 for zero divided by zero.
    @inlinable
    package func dividedSaturated(by other: Self) -> Self {
        guard other != 0 else { return self == 0 ? 0 : self < 0 ? .min : .max }
        let (quotient, overflow) = dividedReportingOverflow(by: other)
        return overflow ? .max : quotient
    }

    /// Returns the number with the opposite sign, or the bound of the type beyond which it lies.
    ///
    /// The least value of a signed type gives the greatest one; every unsigned number gives 0.
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
    /// Returns the sum, or the bound of the type beyond which it lies.
    @inlinable
    package static func +| (left: Self, right: Self) -> Self { left.addingSaturated(right) }

    /// Returns the difference, or the bound of the type beyond which it lies.
    @inlinable
    package static func -| (left: Self, right: Self) -> Self { left.subtractingSaturated(right) }

    /// Returns the product, or the bound of the type beyond which it lies.
    @inlinable
    package static func *| (left: Self, right: Self) -> Self { left.multipliedSaturated(by: right) }

    /// Adds a number, up to the bounds of the type.
    @inlinable
    package static func +|= (left: inout Self, right: Self) { left = left.addingSaturated(right) }

    /// Subtracts a number, down to the bounds of the type.
    @inlinable
    package static func -|= (left: inout Self, right: Self) { left = left.subtractingSaturated(right) }

    /// Multiplies by a number, up to the bounds of the type.
    @inlinable
    package static func *|= (left: inout Self, right: Self) { left = left.multipliedSaturated(by: right) }
}

/// Returns the absolute value of an integer, or the greatest value of the type where it does not fit.
///
/// Takes the place of the standard library's function for integers, which traps for the least value.
@inlinable
package func abs<Number: FixedWidthInteger & SignedInteger>(_ number: Number) -> Number {
    number < 0 ? number.negatedSaturated() : number
}
