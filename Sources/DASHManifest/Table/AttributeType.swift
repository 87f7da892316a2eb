import MediaTiming
package import ReportFormat

/// The type of the value of an attribute, which determines how it is checked and reported.
package enum AttributeType: String, Sendable, Hashable {
    /// Text of any form.
    case string
    /// Items separated by white space.
    case list
    /// Items separated by commas.
    case commaList
    /// An integer of 0 or more.
    case unsigned
    /// An integer of either sign.
    case integer
    /// A decimal number, or `INF`.
    case decimal
    /// `true`, `false`, `1` or `0`.
    case boolean
    /// A Boolean value, or the number of a group, which is an integer of 0 or more (`ConditionalUintType`).
    case booleanOrUnsigned
    /// A duration such as `PT634.566S` (XML Schema Part 2 §3.2.6).
    case duration
    /// A date and time of day such as `2024-01-01T00:00:00Z` (XML Schema Part 2 §3.2.7).
    case dateTime
    /// A frame rate such as `30000/1001`.
    case frameRate
    /// A ratio such as `16:9`.
    case ratio
    /// The first and last byte of a range, such as `0-862`.
    case byteRange

    /// Returns a Boolean value that indicates whether the text has the form of the type.
    package func accepts(_ text: String) -> Bool {
        switch self {
        case .string, .list, .commaList: true
        case .unsigned: (ManifestNumber.integer(text) ?? -1) >= 0
        case .integer: ManifestNumber.integer(text) != nil
        case .decimal: ManifestNumber.decimal(text) != nil || ManifestNumber.isInfinite(text)
        case .boolean: ManifestNumber.boolean(text) != nil
        case .booleanOrUnsigned: ManifestNumber.boolean(text) != nil || (ManifestNumber.integer(text) ?? -1) >= 0
        case .duration: ManifestDuration(text).map { !$0.isClamped } ?? false
        case .dateTime: ManifestDate(text) != nil
        case .frameRate: ManifestNumber.frameRate(text) != nil
        case .ratio: ManifestNumber.isRatio(text)
        case .byteRange: ManifestNumber.byteRange(text) != nil
        }
    }

    /// Returns the value of an attribute for a report, as text if it does not have the form of the type.
    package func report(_ text: String) -> ReportValue {
        switch self {
        case .string, .dateTime, .ratio, .byteRange, .frameRate: .string(text)
        case .list: .strings(ManifestNumber.items(text, separator: " "))
        case .commaList: .strings(ManifestNumber.items(text, separator: ","))
        case .unsigned, .integer: ManifestNumber.integer(text).map { .integer($0) } ?? .string(text)
        case .decimal: ManifestNumber.decimal(text).map { .seconds($0) } ?? .string(text)
        case .boolean: ManifestNumber.boolean(text).map { .bool($0) } ?? .string(text)
        case .booleanOrUnsigned:
            ManifestNumber.boolean(text).map { .bool($0) } ?? ManifestNumber.integer(text).map { .integer($0) }
                ?? .string(text)
        case .duration: ManifestDuration(text).map { .seconds($0.time) } ?? .string(text)
        }
    }
}
