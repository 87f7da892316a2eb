import Foundation

/// Why the library could not do what was asked.
public struct StorageError: Error, Sendable {
    /// What went wrong, in a bounded set of short spellings.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The spelling.
        public let rawValue: String

        /// Makes a code of a spelling.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No asset has this identifier.
        public static let notFound = Code(rawValue: "not-found")
        /// The library's folder or database cannot be used.
        public static let cannotOpen = Code(rawValue: "library-failed")
        /// The library was made by a newer version.
        public static let tooNew = Code(rawValue: "library-too-new")
        /// Another process is at work on the asset.
        public static let busy = Code(rawValue: "asset-busy")
        /// A file of the package is missing or not what it was.
        public static let damaged = Code(rawValue: "package-damaged")
        /// The disk failed or refused.
        public static let disk = Code(rawValue: "disk-failed")
        /// The disk or the user's quota is full, or nearly so.
        public static let full = Code(rawValue: "disk-full")
        /// The asset is not complete enough for what was asked.
        public static let incomplete = Code(rawValue: "asset-incomplete")
    }

    /// What went wrong.
    public let code: Code
    /// What happened and what to do, for people.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Creates the error of a file operation.
    init(_ failure: FileFailure, writing path: String) {
        switch failure.number {
        case ENOENT:
            self.init(.notFound, "\(path) cannot be written: its folder is gone; was the asset deleted meanwhile?")
        case _ where failure.isFull: self.init(.full, "\(path) cannot be written (\(failure.reason))")
        default: self.init(.disk, "\(path) cannot be written (\(failure.reason))")
        }
    }
}

extension StorageError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String { message }
}
