import XMLReading

/// An error that occurs when bytes cannot be read as a media presentation description.
package enum ManifestParsingError: Error, Sendable, Hashable {
    /// The bytes are not a well-formed XML document, or exceed a limit of the XML parser.
    case invalidXML(message: String, line: Int)
    /// The document declares entities or attributes, whose expansion is not bounded.
    case hasDeclarations(line: Int)
    /// The root element is not `MPD`.
    case notAManifest(root: String)
    /// The manifest exceeds one of ``ManifestLimits``.
    case tooLarge(message: String, line: Int)
}

extension ManifestParsingError: CustomStringConvertible {
    /// The error as a message for display.
    package var description: String {
        switch self {
        case .invalidXML(let message, let line):
            "the manifest is not a well-formed XML document (line \(line): \(message))"
        case .hasDeclarations(let line):
            "the manifest declares entities or attributes in line \(line), which is not allowed"
        case .notAManifest(let root): "the root element is \(root), not MPD, so this is not a DASH manifest"
        case .tooLarge(let message, let line): "the manifest is too large (line \(line): \(message))"
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
        }
    }
}
