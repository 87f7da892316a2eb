/// Why a text is not a log.
public struct ExtendedLogError: Error, Sendable, Hashable {
    /// What is wrong.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// An entry stands before any `#Fields` directive, or the directive names none of the fields that matter.
        case noFields
        /// The directive `#Version` names another version than 1.
        case unsupportedVersion
        /// An entry has more or fewer values than there are fields.
        case wrongNumberOfValues
        /// A text has no closing quotation mark, or something stands right behind it.
        case malformedString
        /// A value is not what its field can hold.
        case malformedValue
        /// The line is longer than the limit.
        case lineTooLong
        /// There are more fields than the limit.
        case tooManyFields
        /// There are more entries than the limit.
        case tooManyEntries
    }

    /// What is wrong.
    public let code: Code
    /// The line where, counted from 1.
    public let line: Int
    /// The field that it is about, where it is one that we know.
    public let field: String?
}

extension ExtendedLogError: CustomStringConvertible {
    /// Where and what, for people.
    public var description: String {
        let what =
            switch code {
            case .noFields: "no #Fields directive names what stands here"
            case .unsupportedVersion: "only version 1.0 can be read"
            case .wrongNumberOfValues: "there are not as many values as fields; values with spaces need quotation marks"
            case .malformedString: "a quotation mark is missing or stands in the middle"
            case .malformedValue: "the value cannot be read"
            case .lineTooLong: "the line is too long"
            case .tooManyFields: "there are too many fields"
            case .tooManyEntries: "there are too many entries"
            }
        return "line \(line)\(field.map { ", \($0)" } ?? ""): \(what)"
    }
}
