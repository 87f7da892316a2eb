import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// The failure of a segment: its category, and the error for the logs.
struct SegmentFailure: Sendable {
    var fault: SegmentRecovery.Fault
    let error: StreamingError
    /// The delay that the server requests in its Retry-After header; `nil` if it requests none.
    let retryAfter: Duration

    /// Categorizes an error of the loader or the pipeline.
    init(_ cause: any Error, of segment: SegmentReference) {
        var retryAfter: Duration?
        switch cause {
        case SegmentLoader.Failure.transport(let failure, let kind):
            retryAfter = failure.retryAfter
            let isKey = kind == .contentKey
            fault = SegmentRecovery.Fault(failure, isKey: isKey)
            if isKey, fault == .forbidden {
                error = StreamingError(
                    .keyNotLoaded,
                    "the key may not be had: \(failure.message)",
                    address: failure.address,
                    status: failure.status,
                    cause: failure
                )
            } else {
                let what = isKey ? "a key" : kind == .initialization ? "an initialization" : "a segment"
                error = StreamingError(failure, what)
            }
        case SegmentLoader.Failure.decryption(let message, let address):
            fault = .damaged
            error = StreamingError(.damaged, message, address: address)
        case SegmentLoader.Failure.unsupportedProtection(let refusal):
            let message = "the media is protected in a way that is not supported: \(refusal)"
            fault = .forbidden
            error = StreamingError(.protected, message, address: segment.address)
        case let failure as MediaPipelineError:
            fault = failure.code == .deviceLost ? .forbidden : .damaged
            let code: StreamingError.Code = failure.code == .deviceLost ? .pipelineLost : .damaged
            error = StreamingError(code, failure.message, address: segment.address, cause: failure)
        default:
            fault = .damaged
            error = StreamingError(.damaged, "\(cause)", address: segment.address, cause: cause)
        }
        self.retryAfter = retryAfter ?? .zero
    }
}

extension StreamingError {
    /// Creates the error for a failure of the transport.
    init(_ error: TransportError, _ what: String, at address: String? = nil) {
        let isUnreachable = SegmentRecovery.Fault(error, isKey: false) == .unreachable
        self.init(
            isUnreachable ? .unreachable : .notLoaded,
            "\(what) could not be loaded: \(error.message)",
            address: error.address ?? address.map { ResourceAddress($0) },
            status: error.status,
            cause: error
        )
    }
}
