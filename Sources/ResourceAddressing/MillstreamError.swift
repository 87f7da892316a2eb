/// A short, stable identifier of the kind of an error, for logs and metrics.
///
/// The spelling of a code never changes, and contains no address.
public protocol ErrorCode: RawRepresentable<String>, CaseIterable, Sendable, Hashable {
    /// The code of the corresponding error of AVFoundation (`AVError.Code`); `nil` if it has none.
    var number: Int? { get }
}

extension ErrorCode {
    /// No corresponding error.
    public var number: Int? { nil }
}

/// An error of the package.
///
/// To handle errors of different types alike, cast to `any MillstreamError`. To translate an error, switch over its type
/// and its ``code``; messages are for people, and may change.
public protocol MillstreamError: Error, CustomStringConvertible {
    /// The type of the codes.
    associatedtype Code: ErrorCode

    /// The kind of the error.
    var code: Code { get }
    /// The description of the error and of what to do about it, for people.
    var message: String { get }
    /// The address that the error concerns; `nil` if there is none.
    var address: ResourceAddress? { get }
    /// The error that caused this one; `nil` if there is none.
    var cause: (any Error)? { get }
}

extension MillstreamError {
    /// No address.
    public var address: ResourceAddress? { nil }
    /// No cause.
    public var cause: (any Error)? { nil }
    /// The message of the error.
    public var description: String { message }
}
