package import AssetStorage
import Foundation
import MediaTransport
public import ResourceAddressing

/// An error of a download.
public struct DownloadError: MillstreamError, Sendable {
    /// A short identifier of the kind of error, for logs and metrics.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The text of the code.
        public let rawValue: String

        /// Creates a code from its text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stream is live; it cannot be downloaded before it ends.
        public static let live = Code(rawValue: "live-stream")
        /// The source is not a playlist.
        public static let notAPlaylist = Code(rawValue: "not-a-playlist")
        /// The content is protected by a system that is not supported.
        public static let contentProtected = Code(rawValue: "content-protected")
        /// The received media cannot be played, because the key does not match it.
        public static let damaged = Code(rawValue: "damaged")
        /// The presentation has nothing that matches the selection.
        public static let nothingSelected = Code(rawValue: "nothing-selected")
        /// A recording that would be continued has another selection.
        public static let otherSelection = Code(rawValue: "other-selection")
        /// The edits of the selection cannot be applied to the playlists.
        public static let cannotEdit = Code(rawValue: "cannot-edit")
        /// The download is larger than the limit.
        public static let tooLarge = Code(rawValue: "too-large")
        /// A resource could not be loaded.
        public static let transport = Code(rawValue: "transport")
        /// The library could not store the asset.
        public static let storage = Code(rawValue: "storage")
        /// The download was canceled.
        public static let canceled = Code(rawValue: "canceled")
        /// An error that an earlier process stored has a code that this version does not know.
        public static let unknown = Code(rawValue: "unknown")
    }

    /// The kind of error.
    public let code: Code
    /// The code of the underlying error; the text of ``code`` if there is none.
    public let detail: String
    /// A message for the user: what happened.
    public let message: String
    /// A suggestion for the user; `nil` if there is none.
    public let hint: String?
    /// The URL that the error is about.
    public let address: ResourceAddress?
    /// The error of the transport, the library or the parser that caused this one; `nil` if there is none.
    public let cause: (any Error)?

    init(
        _ code: Code,
        _ message: String,
        hint: String? = nil,
        address: ResourceAddress? = nil,
        detail: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.address = address
        self.detail = detail ?? code.rawValue
        self.cause = cause
    }

    init(_ error: TransportError) {
        let isUnreadable = error.code == .unreadableManifest || error.code == .untranslatable
        self.init(
            isUnreadable ? .notAPlaylist : .transport,
            error.description,
            address: error.address,
            detail: error.code.rawValue,
            cause: error
        )
    }

    init(_ error: StorageError) {
        let hint: String? =
            switch error.code {
            case .full: error.hint ?? "free some space and run the same command again to resume the download"
            case .busy: error.hint ?? "wait until the other task has finished, or stop it"
            case .wouldDelete: "keep them in another library (--library DIR), or let them be deleted (--replace)"
            default: nil
            }
        self.init(.storage, error.message, hint: hint, detail: error.code.rawValue, cause: error)
    }
}

extension DownloadError {
    /// The detail of the error for a live playlist without segments.
    package static let notBegun = "not-begun"
    /// The advice of an error about the size limit of a download, which is an option of the command line.
    package static let sizeLimitHint = "use --max-size to change the limit"

    static func canceled(_ address: ResourceAddress) -> DownloadError {
        DownloadError(.canceled, "the download was canceled", address: address)
    }

    /// Returns the error of a task whose download belongs to another session by now.
    static func takenOver(_ id: DownloadTask.ID) -> DownloadError {
        DownloadError(
            StorageError(
                .busy,
                "another session continues the download \(id)",
                hint: "see it with: millstream downloads list"
            )
        )
    }

    /// Creates the error of a download from any error that ended it.
    init(any error: any Error) {
        switch error {
        case let error as DownloadError: self = error
        case let error as StorageError: self.init(error)
        case let error as TransportError: self.init(error)
        default: self.init(.unknown, "the download failed (\(error.localizedDescription))", cause: error)
        }
    }

    /// Creates an error that an earlier process stored.
    package init(_ failure: DownloadRecord.Failure) {
        let code = Code(rawValue: failure.code)
        self.init(Code.allCases.contains(code) ? code : .unknown, failure.message, detail: failure.detail)
    }

    /// The error as the catalog stores it.
    var stored: DownloadRecord.Failure { DownloadRecord.Failure(code: code.rawValue, detail: detail, message: message) }

    /// The message for the user.
    public var description: String { message }
}

extension DownloadError.Code: ErrorCode {
    /// The codes of this version.
    public static let allCases: [Self] = [
        .live, .notAPlaylist, .contentProtected, .damaged, .nothingSelected, .otherSelection, .cannotEdit, .tooLarge,
        .transport, .storage, .canceled, .unknown,
    ]

    /// The code of the corresponding error of AVFoundation.
    public var number: Int? {
        switch self {
        case .live: -11_862
        case .notAPlaylist: -11_828
        case .contentProtected: -11_831
        case .damaged: -11_821
        case .nothingSelected: -11_869
        case .transport: -11_849
        case .canceled: -11_878
        default: nil
        }
    }
}
