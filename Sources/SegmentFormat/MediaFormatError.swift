import ResourceAddressing

/// An error that occurs when bytes cannot be parsed as the expected format.
///
/// The associated value of each case is the name of the structure concerned.
package enum MediaFormatError: MillstreamError, Hashable {
    /// The data ends before the end of the named structure.
    case truncated(String)
    /// The named structure, or one of its fields, has an invalid value.
    case malformed(String)
    /// The named structure has more entries than the parser accepts.
    case tooLarge(String)
    /// The named structure is required but missing.
    case missing(String)
    /// The file lacks the named structure, which is written last, because its recording did not finish.
    case unfinished(String)
}

extension MediaFormatError {
    /// A human-readable description of the error.
    package var description: String {
        switch self {
        case .truncated(let name): "\(name) is truncated"
        case .malformed(let name): "\(name) is invalid"
        case .tooLarge(let name): "\(name) exceeds the supported number of entries"
        case .missing(let name): "\(name) is missing"
        case .unfinished(let name): "\(name) is missing, because the recording of the file did not finish"
        }
    }
}

extension MediaFormatError {
    /// The kind of the error.
    package enum Code: String, ErrorCode {
        /// The data ends before the end of a structure.
        case truncated
        /// A structure is invalid.
        case malformed
        /// A structure has too many entries.
        case tooLarge = "too-large"
        /// A structure is missing.
        case missing
        /// A structure is missing, because the recording of the file did not finish.
        case unfinished

        /// The code of the corresponding error of AVFoundation.
        package var number: Int? {
            switch self {
            case .truncated, .malformed, .unfinished: -11_829
            case .tooLarge: -11_864
            case .missing: -11_822
            }
        }
    }

    /// The kind of the error.
    package var code: Code {
        switch self {
        case .truncated: .truncated
        case .malformed: .malformed
        case .tooLarge: .tooLarge
        case .missing: .missing
        case .unfinished: .unfinished
        }
    }

    /// The description of the error.
    package var message: String { description }
}
