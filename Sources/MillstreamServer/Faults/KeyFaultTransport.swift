import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing

/// A transport that simulates faults in the responses to requests for keys, and passes on all other requests.
///
/// Other players request keys themselves. For the player of the console, the server requests keys when it decrypts a
/// segment.
struct KeyFaultTransport: Transport {
    let base: any Transport
    let settings: FaultSettings
    /// Returns the path with which other players request a key; the patterns of faults are compared with this path.
    let path: @Sendable (ResourceAddress) -> String

    private var time: any TimeSource { settings.time }

    /// The maximum number of bytes of a response whose body has a fault; a key is smaller.
    private static let maximumSize = 4_096

    /// The executor of the underlying transport; see `Transport/executor`.
    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.kind == .key, !settings.isEmpty,
            let fault = settings.fault(forRequestOf: path(request.address))
        else { return try await base.send(request) }
        if fault.isTimeout {
            try await time.waitUnlessShuttingDown(.seconds(ResponseFault.maximumDelay))
            throw TransportError(.connectionLost, "this fault is simulated", address: request.address)
        }
        if fault.delay > .zero { try await time.waitUnlessShuttingDown(fault.delay) }
        let response: TransportResponse
        switch fault.replacement {
        case nil: response = try await base.send(request)
        case .status(let code):
            throw TransportError(.status, "this fault is simulated", address: request.address, status: code)
        case .page: response = Self.response(ResponseFault.pageText, to: request)
        case .text(let text): response = Self.response(text, to: request)
        }
        guard fault.rate != nil || fault.end != nil || fault.damageStart != nil else { return response }
        var bytes: [UInt8] = []
        for try await buffer in response.body {
            bytes += Array(buffer.readableBytesView)
            guard bytes.count <= Self.maximumSize else {
                throw TransportError(.tooLarge, "the key is too large", address: request.address)
            }
        }
        if let start = fault.damageStart {
            for position in bytes.indices where Int64(position) >= start { bytes[position] = 0 }
        }
        if let end = fault.end, Int64(bytes.count) >= end.bytes {
            if end.ending == .stall { try await time.waitUnlessShuttingDown(.seconds(ResponseFault.maximumDelay)) }
            throw TransportError(.connectionLost, "this fault is simulated", address: request.address)
        }
        if let rate = fault.rate {
            try await time.waitUnlessShuttingDown(.seconds(Double(bytes.count) * 8 / Double(rate.bitsPerSecond)))
        }
        return response.replacingBody(with: bytes)
    }

    private static func response(_ text: String, to request: TransportRequest) -> TransportResponse {
        let bytes = Array(text.utf8)
        return TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: Int64(bytes.count),
            body: TransportBody(bytes)
        )
    }
}
