import ResourceAddressing
import XMLReading

/// An error that occurs when bytes cannot be read as a media presentation description.
package enum ManifestParsingError: MillstreamError, Sendable, Hashable {
    /// The bytes are not a well-formed XML document, or exceed a limit of the XML parser.
    case invalidXML(message: String, line: Int)
    /// The document declares entities or attributes, whose expansion is not bounded.
    case hasDeclarations(line: Int)
    /// The root element is not `MPD`.
    case notAManifest(root: String)
    /// The manifest exceeds one of ``ManifestLimits``.
    case tooLarge(message: String, line: Int)
    /// The task that waits for the manifest was canceled.
    case canceled

    /// The kind of the error.
    package enum Code: String, ErrorCode {
        /// The bytes are not a well-formed XML document.
        case invalidXML = "invalid-xml"
        /// The document declares entities or attributes.
        case hasDeclarations = "has-declarations"
        /// The root element is not `MPD`.
        case notAManifest = "not-a-manifest"
        /// The manifest exceeds a limit.
        case tooLarge = "too-large"
        /// The task was canceled.
        case canceled

        /// The code of the corresponding error of AVFoundation.
        package var number: Int? {
            switch self {
            case .invalidXML, .hasDeclarations: -11_853
            case .notAManifest: -11_828
            case .tooLarge: -11_849
            case .canceled: -11_878
            }
        }
    }

    /// The kind of the error.
    package var code: Code {
        switch self {
        case .invalidXML: .invalidXML
        case .hasDeclarations: .hasDeclarations
        case .notAManifest: .notAManifest
        case .tooLarge: .tooLarge
        case .canceled: .canceled
        }
    }

    /// The description of the error, for people.
    package var message: String {
        switch self {
        case .invalidXML(let message, let line):
            "the manifest is not a well-formed XML document (line \(line): \(message))"
        case .hasDeclarations(let line):
            "the manifest declares entities or attributes in line \(line), which is not allowed"
        case .notAManifest(let root): "the root element is \(root), not MPD, so this is not a DASH manifest"
        case .tooLarge(let message, let line): "the manifest is too large (line \(line): \(message))"
        case .canceled: "the manifest was not read to its end, because the task was canceled"
        }
    }
}

extension ManifestParsingError {
    /// Creates the error of a manifest whose document cannot be read.
    init(_ error: XMLReadingError) {
        switch error.code {
        case .malformed: self = .invalidXML(message: error.message, line: error.line)
        case .hasDeclarations: self = .hasDeclarations(line: error.line)
        case .tooLarge: self = .tooLarge(message: error.message, line: error.line)
        case .canceled: self = .canceled
        }
    }
}
