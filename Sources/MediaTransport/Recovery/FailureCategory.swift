import ResourceAddressing

/// A category of failures, which determines how to continue after one.
///
/// The player, downloads and the server classify failures by these categories only.
public enum FailureCategory: String, Sendable, Hashable, CaseIterable {
    /// No server responds, or the response ends early.
    case unreachable
    /// The server reports a temporary failure.
    case busy
    /// The response does not match the request, or the resource changed while it was loaded.
    case inconsistent
    /// The resource is not provided.
    case missing
    /// The resource was received, but its content is unusable.
    case damaged
    /// The live playlist has not been updated for too long.
    case stale
    /// No other source can be used either: access is denied, or the content protection is not supported.
    case denied
    /// The decoder or an output device was lost.
    case deviceLost

    /// A Boolean value that indicates whether the same request may succeed later.
    public var isTransient: Bool {
        switch self {
        case .unreachable, .busy, .inconsistent: true
        case .missing, .damaged, .stale, .denied, .deviceLost: false
        }
    }

    /// Creates the category of an HTTP status.
    ///
    /// An unknown status of the class 5xx counts as 500 (RFC 9110 §15). After 501 and 505, the server does not support
    /// the request, so that it would fail again.
    ///
    /// - Parameters:
    ///   - status: The status of an unsuccessful response.
    ///   - kind: The kind of the request. The statuses 401, 402 and 403 deny access to a key from each source, because
    ///     the keys of all variants require the same authorization.
    public init(status: Int, kind: TransportRequest.Kind) {
        self =
            switch status {
            case 401...403 where kind == .key: .denied
            case 408, 425, 429: .busy
            case 501, 505: .missing
            case 500...599: .busy
            default: .missing
            }
    }
}

extension FailureCategory {
    /// Returns a Boolean value that indicates whether a status is that of an address that may have expired: 401, 403 or
    /// 410.
    ///
    /// Content delivery networks answer 403 to a signature that has expired; 410 means that the resource will not be
    /// available again (RFC 9110 §15.5.11).
    package static func mayIndicateExpiry(status: Int) -> Bool { status == 401 || status == 403 || status == 410 }
}

extension TransportError {
    /// Returns the category of the error of a request.
    ///
    /// Bytes that a local file does not have are missing at once, so that they are not requested again.
    public func category(of kind: TransportRequest.Kind) -> FailureCategory {
        switch code {
        case .status: FailureCategory(status: status ?? 0, kind: kind)
        // The server responds, but another attempt would take as long.
        case .timedOut where exceedsDocumentTime: .missing
        case .cannotConnect, .unknownHost, .timedOut, .connectionLost: .unreachable
        case .wrongContent where address?.filePath != nil: .missing
        case .wrongContent, .contentChanged: .inconsistent
        case .tokenUnavailable: .busy
        default: .missing
        }
    }
}
