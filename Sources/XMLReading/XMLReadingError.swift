public import ResourceAddressing

/// An error that occurs when an XML document cannot be parsed.
public struct XMLReadingError: MillstreamError, Hashable {
    /// The category of an XML error.
    public enum Code: String, ErrorCode {
        /// The document is not well-formed.
        case malformed
        /// The document exceeds one of ``XMLDocumentParser/Limits``.
        case tooLarge
        /// The document declares entities or attributes, which are rejected because their expansion is not bounded.
        case hasDeclarations

        /// The code of the corresponding error of AVFoundation.
        public var number: Int? { -11_829 }
    }

    /// The category of the error.
    public let code: Code
    /// A human-readable message.
    public let message: String
    /// The line at which the error was detected, counted from 1; 0 if the error concerns the whole document.
    public let line: Int

    /// Creates an error with the given code, message and line.
    public init(_ code: Code, _ message: String, line: Int) {
        self.code = code
        self.message = message
        self.line = line
    }
}

extension XMLReadingError {
    /// The message, preceded by the line number if it is known.
    public var description: String { line > 0 ? "line \(line): \(message)" : message }
}
