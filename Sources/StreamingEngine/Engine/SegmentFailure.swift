import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// The failure of a segment: its category, and the error for the logs.
struct SegmentFailure: Sendable {
    let failure: RecoveryPolicy.Failure
    let error: StreamingError

    /// The reason for which the segment is skipped.
    var reason: SkippedSegment.Reason { failure.category == .damaged ? .notDecodable : .notLoaded }

    /// Creates the failure for an error of the loader or the pipeline.
    init(_ cause: any Error, of segment: SegmentReference) {
        switch cause {
        case SegmentLoader.Failure.transport(let cause, let kind):
            let isKey = kind == .contentKey
            failure = RecoveryPolicy.Failure(cause, of: isKey ? .key : .segment)
            if failure.category == .denied {
                error = StreamingError(
                    .keyNotLoaded,
                    "the server refused the key: \(cause.message)",
                    address: cause.address,
                    status: cause.status,
                    cause: cause
                )
            } else {
                let what = isKey ? "a key" : kind == .initialization ? "an initialization" : "a segment"
                error = StreamingError(cause, what)
            }
        case SegmentLoader.Failure.decryption(let message, let address):
            failure = RecoveryPolicy.Failure(.damaged)
            error = StreamingError(.damaged, message, address: address)
        case SegmentLoader.Failure.unsupportedProtection(let refusal):
            let message = "the media is encrypted and cannot be played: \(refusal)"
            failure = RecoveryPolicy.Failure(.denied)
            error = StreamingError(.protected, message, address: segment.address)
        case let cause as MediaPipelineError:
            let isLost = cause.code == .deviceLost
            failure = RecoveryPolicy.Failure(isLost ? .deviceLost : .damaged)
            let code: StreamingError.Code = isLost ? .pipelineLost : .damaged
            error = StreamingError(code, cause.message, address: segment.address, cause: cause)
        default:
            failure = RecoveryPolicy.Failure(.damaged)
            error = StreamingError(.damaged, "\(cause)", address: segment.address, cause: cause)
        }
    }
}

extension RecoveryPolicy.Failure {
    /// Creates the failure of a playlist.
    init(ofPlaylist error: StreamingError) {
        if let cause = error.cause as? TransportError {
            self.init(cause, of: .playlist)
        } else {
            self.init(error.code == .stuck ? .stale : .damaged)
        }
    }
}

extension StreamingError {
    /// Creates the error for a failure of the transport.
    init(_ error: TransportError, _ what: String, at address: String? = nil) {
        let code: Code
        switch error.code {
        case .unreadableManifest: code = .unreadablePlaylist
        case .untranslatable: code = .unsupported
        default: code = error.category(of: .segment) == .unreachable ? .unreachable : .notLoaded
        }
        self.init(
            code,
            "\(what) could not be loaded: \(error.message)",
            address: error.address ?? address.map { ResourceAddress($0) },
            status: error.status,
            cause: error
        )
    }
}
