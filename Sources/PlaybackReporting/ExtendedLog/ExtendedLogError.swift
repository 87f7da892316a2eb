public import ResourceAddressing

/// An error in the text form of a log.
public struct ExtendedLogError: MillstreamError, Hashable {
    /// The kinds of errors.
    public enum Code: String, ErrorCode {
        /// An entry precedes any `#Fields` directive, or the directive lacks a required field.
        case noFields
        /// The directive `#Version` has a version other than 1.
        case unsupportedVersion
        /// An entry has more or fewer values than there are fields.
        case wrongNumberOfValues
        /// A string has no closing quotation mark, or text follows the quotation mark without a space.
        case malformedString
        /// A value is invalid for its field.
        case malformedValue
        /// The line is longer than the limit.
        case lineTooLong
        /// There are more fields than the limit.
        case tooManyFields
        /// There are more entries than the limit.
        case tooManyEntries
    }

    /// The kind of the error.
    public let code: Code
    /// The line number of the error, starting at 1.
    public let line: Int
    /// The field with the error, or `nil` if the error does not concern a known field.
    public let field: String?
}

extension ExtendedLogError {
    /// The description of the error.
    public var message: String { description }

    /// A human-readable description with the line number and the field.
    public var description: String {
        let what =
            switch code {
            case .noFields: "no #Fields directive declares the required fields"
            case .unsupportedVersion: "the #Version directive must declare version 1.0"
            case .wrongNumberOfValues:
                "the number of values does not match the number of fields; values with spaces must be in quotation marks"
            case .malformedString: "the closing quotation mark is missing or is followed by text"
            case .malformedValue: "the value is invalid"
            case .lineTooLong: "the line exceeds the maximum length"
            case .tooManyFields: "there are too many fields"
            case .tooManyEntries: "there are too many entries"
            }
        return "line \(line)\(field.map { ", \($0)" } ?? ""): \(what)"
    }
}
