/// Why an XML document could not be read.
public struct XMLReadingError: Error, Sendable, Hashable {
    /// What kind of fault it is.
    public enum Code: String, Sendable, Hashable {
        /// It is not well-formed.
        case malformed
        /// It is larger, deeper or more numerous than is read of any document.
        case tooLarge
        /// It declares entities or attributes of its own, which are not taken from strangers.
        case hasDeclarations
    }

    /// What kind of fault it is.
    public let code: Code
    /// What happened, for people.
    public let message: String
    /// The line where it was noticed, from 1; 0 where it concerns the document as a whole.
    public let line: Int

    /// Makes an error.
    public init(_ code: Code, _ message: String, line: Int) {
        self.code = code
        self.message = message
        self.line = line
    }
}

extension XMLReadingError: CustomStringConvertible {
    /// What happened and where, for people.
    public var description: String { line > 0 ? "line \(line): \(message)" : message }
}
