import Foundation
import MediaTransport
public import ResourceAddressing

/// An error of an asset library.
public struct StorageError: MillstreamError, Sendable {
    /// A short identifier of the kind of error, for logs and metrics.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The text of the code.
        public let rawValue: String

        /// Creates a code from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No asset has the given identifier.
        public static let notFound = Code(rawValue: "not-found")
        /// The directory or the catalog of the library cannot be used.
        public static let cannotOpen = Code(rawValue: "library-failed")
        /// The library was created by a newer version.
        public static let tooNew = Code(rawValue: "library-too-new")
        /// Another process is using the asset.
        public static let busy = Code(rawValue: "asset-busy")
        /// A file of the package is missing or damaged.
        public static let damaged = Code(rawValue: "package-damaged")
        /// A file operation or the database failed.
        public static let disk = Code(rawValue: "disk-failed")
        /// The disk or the quota of the user is full, or nearly full.
        public static let full = Code(rawValue: "disk-full")
        /// A file or folder that would be created exists already.
        public static let alreadyExists = Code(rawValue: "already-exists")
        /// The asset is not complete enough for the operation.
        public static let incomplete = Code(rawValue: "asset-incomplete")
        /// The package of an asset was moved out of the library, or deleted without it.
        public static let moved = Code(rawValue: "package-moved")
        /// An operation would remove everything.
        public static let nothingLeft = Code(rawValue: "nothing-left")
        /// A download would delete stored segments that are outside of its selection.
        public static let wouldDelete = Code(rawValue: "would-delete")
        /// A recording cannot be added to an asset that was downloaded.
        public static let notRecorded = Code(rawValue: "not-recorded")
        /// An image is larger than ``AssetArtwork/maximumSize``.
        public static let artworkTooLarge = Code(rawValue: "artwork-too-large")
        /// An image has a format that cannot be stored as artwork.
        public static let unsupportedArtwork = Code(rawValue: "unsupported-artwork")
    }

    /// The kind of error.
    public let code: Code
    /// A message for the user: what happened, and what to do.
    public let message: String
    /// The error of the file system or the database; `nil` if there is none.
    public let cause: (any Error)?
    /// A suggestion for the user in place of the usual one for the code; `nil` if there is none.
    package let hint: String?

    /// Creates an error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        hint = nil
    }

    /// Creates an error with a suggestion for the user.
    package init(_ code: Code, _ message: String, hint: String) {
        self.code = code
        self.message = message
        self.hint = hint
        cause = nil
    }

    /// Creates the error for a failed file operation.
    init(_ failure: FileFailure, writing path: String) {
        switch failure.number {
        case ENOENT:
            self.init(
                .notFound,
                "\(path) cannot be written: its directory no longer exists; the asset may have been deleted",
                cause: failure
            )
        case _ where failure.isFull: self.init(.full, "\(path) cannot be written (\(failure.reason))", cause: failure)
        default: self.init(.disk, "\(path) cannot be written (\(failure.reason))", cause: failure)
        }
    }

    /// Creates the error for a file or directory that cannot be written, with the error of Foundation.
    package init(writing path: String, _ error: any Error) {
        let message = "\(path) cannot be written (\(FileErrorText.reason(of: error)))"
        self.init(FileErrorText.isFull(error) ? .full : .disk, message, cause: error)
    }

    /// Creates the error for a file that cannot be read, with the error number of the system.
    init(reading path: String, _ number: CInt) {
        self.init(.disk, "\(path) cannot be read (\(String(cString: strerror(number))))")
    }
}

extension StorageError {
    /// The message for the user.
    public var description: String { message }
}

extension StorageError.Code: ErrorCode {
    /// The codes of this version.
    public static let allCases: [Self] = [
        .notFound, .cannotOpen, .tooNew, .busy, .damaged, .disk, .full, .alreadyExists, .incomplete, .moved,
        .nothingLeft, .wouldDelete, .notRecorded, .artworkTooLarge, .unsupportedArtwork,
    ]

    /// The code of the corresponding error of AVFoundation.
    public var number: Int? {
        switch self {
        case .notFound, .damaged, .moved: -11_867
        case .full: -11_807
        case .incomplete: -11_863
        default: nil
        }
    }
}
