import Foundation
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import ResourceAddressing
import ServiceLifecycle
import Synchronization

/// A middleware that simulates faults in responses.
///
/// The first fault that concerns a request applies.
struct FaultInjection: RouterMiddleware {
    private let settings: FaultSettings
    private var time: any TimeSource { settings.time }

    init(_ settings: FaultSettings) { self.settings = settings }

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let path = Self.path(of: request.uri.path, request.uri.query)
        guard settings.selectsSequences, request.uri.path.hasSuffix(".m3u8") else {
            return try await response(toRequestOf: path, context) { try await next(request, context) }
        }
        // The numbers are read from the playlist, which is therefore sent completely and without compression.
        var head = request.head
        for name in [HTTPField.Name.acceptEncoding, .ifNoneMatch, .ifModifiedSince, .range] {
            head.headerFields[name] = nil
        }
        let whole = Request(head: head, body: request.body)
        return try await response(toRequestOf: path, context) {
            let playlist = try await next(whole, context)
            return recording(playlist, to: request)
        }
    }

    /// Returns a response whose media sequence numbers are recorded before its last bytes are sent.
    private func recording(_ playlist: Response, to request: Request) -> Response {
        guard playlist.status == .ok else { return playlist }
        let address = ResourceAddress("http://localhost" + request.uri.string)
        let (body, settings) = (playlist.body, settings)
        var response = playlist
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(SequenceRecorder(base: writer, settings: settings, address: address))
        }
        return response
    }

    /// Returns a response with the fault that applies to it.
    ///
    /// - Parameters:
    ///   - path: The path with which the patterns of faults are compared.
    ///   - sequence: The media sequence number of the segment; `nil` for that of the last playlist with the path.
    ///   - context: The context of the request.
    ///   - make: Returns the response without a fault.
    /// - Returns: The response.
    /// - Throws: The error of `make`; `CancellationError` after the time of a fault without a response.
    func response(
        toRequestOf path: String,
        sequence: Int64? = nil,
        _ context: ServerRequestContext,
        _ make: () async throws -> Response
    ) async throws -> Response {
        guard !settings.isEmpty, let fault = settings.fault(forRequestOf: path, sequence: sequence) else {
            return try await make()
        }
        let pause = fault.isTimeout ? Duration.seconds(ResponseFault.maximumDelay) : fault.delay
        if pause > .zero {
            try await ClientPresence.whileClientIsConnected { [time] in
                try await time.waitUnlessShuttingDown(pause)
            }
        }
        if fault.isTimeout {
            try? await context.channel.close().get()
            // As for a client that has left, there is no response.
            throw CancellationError()
        }
        var response =
            if let replacement = fault.replacement { replacement.response } else { try await make() }
        guard fault.rate != nil || fault.end != nil || fault.damageStart != nil else { return response }
        let (body, time, channel) = (response.body, time, context.channel)
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(FaultyWriter(base: writer, fault: fault, channel: channel, time: time))
        }
        return response
    }

    /// Returns the path with which patterns are compared: that of the source, if the query names one.
    static func path(of path: String, _ query: String?) -> String {
        guard let url = QueryItems(query)["url"] else { return path }
        let text = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = text.firstRange(of: "://") else { return String(text) }
        let rest = text[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
    }
}

extension ResponseFault {
    /// The page that replaces a response.
    static let pageText = "<!DOCTYPE html><title>Sign in</title><p>This page is a simulated fault.</p>\n"
}

extension ResponseFault.Replacement {
    /// The response.
    fileprivate var response: Response {
        switch self {
        case .status(let code):
            ServerError(HTTPResponse.Status(code: code), "simulated", "this fault is simulated").response
        case .page:
            Self.response(ResponseFault.pageText, type: "text/html; charset=utf-8")
        case .text(let text): Self.response(text, type: "application/octet-stream")
        }
    }

    private static func response(_ text: String, type: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

/// A counter of the requests of each path.
final class RequestCounter: Sendable {
    /// The maximum number of paths; counting begins again when it is reached.
    private static let maximumPathCount = 100_000

    /// The counts by the hash of the path, whose length is chosen by clients.
    private let counts = Mutex<[Int: Int]>([:])

    /// Counts a request, and returns its number, from 1.
    func count(_ path: String) -> Int {
        let key = path.hashValue
        return counts.withLock { counts in
            if counts.count >= Self.maximumPathCount, counts[key] == nil { counts = [:] }
            let number = (counts[key] ?? 0) +| 1
            counts[key] = number
            return number
        }
    }
}

/// A writer that records the media sequence numbers of a playlist, whose last bytes it sends after that.
private struct SequenceRecorder: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let settings: FaultSettings
    let address: ResourceAddress
    private var bytes: [UInt8] = []
    private var pending: ByteBuffer?

    /// The maximum number of bytes of a playlist that are read.
    private static let maximumSize = 16 << 20

    init(base: any ResponseBodyWriter, settings: FaultSettings, address: ResourceAddress) {
        self.base = base
        self.settings = settings
        self.address = address
    }

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        bytes += buffer.readableBytesView.prefix(max(0, Self.maximumSize -| bytes.count))
        if let pending { try await base.write(pending) }
        pending = buffer
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        settings.recordSequences(of: bytes, at: address)
        var writer = base
        if let pending { try await writer.write(pending) }
        try await writer.finish(trailingHeaders)
    }
}

/// A writer that limits the rate of a body, damages it, and ends it early.
private struct FaultyWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let fault: ResponseFault
    let channel: any Channel
    let time: any TimeSource
    private var sent: Int64 = 0

    init(base: any ResponseBodyWriter, fault: ResponseFault, channel: any Channel, time: any TimeSource) {
        self.base = base
        self.fault = fault
        self.channel = channel
        self.time = time
    }

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while rest.readableBytes > 0 {
            let allowed = fault.end.map { $0.bytes -| sent } ?? .max
            guard allowed > 0 else { return try await end() }
            let count = Int(clamping: min(Int64(rest.readableBytes), allowed, bytesInInterval))
            guard let part = rest.readSlice(length: count) else { return }
            try await base.write(damaged(part))
            sent +|= Int64(count)
            if let rate = fault.rate {
                try await time.waitUnlessShuttingDown(.seconds(Double(count) * 8 / Double(rate.bitsPerSecond)))
            }
        }
        if let end = fault.end, sent >= end.bytes { try await self.end() }
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        // A body without bytes ends early as well.
        if let end = fault.end, sent >= end.bytes { try await self.end() }
        try await base.finish(trailingHeaders)
    }

    /// Returns the next bytes of the body, with zeros after the start of the damage.
    private func damaged(_ part: ByteBuffer) -> ByteBuffer {
        guard let start = fault.damageStart, sent +| Int64(part.readableBytes) > start else { return part }
        let intact = Int(clamping: max(0, start -| sent))
        var result = ByteBuffer(part.readableBytesView.prefix(intact))
        result.writeRepeatingByte(0, count: part.readableBytes - intact)
        return result
    }

    /// The number of bytes that are sent at once, at least 1.
    private var bytesInInterval: Int64 {
        guard let rate = fault.rate else { return .max }
        return max(1, rate.bitsPerSecond / 8 / 20)
    }

    /// Stops, resets or closes the connection; an error in a body closes it.
    private func end() async throws {
        switch fault.end?.ending {
        case .stall: try await time.waitUnlessShuttingDown(.seconds(ResponseFault.maximumDelay))
        case .reset:
            // Bytes that have not arrived when the connection is reset are lost.
            try await time.sleep(for: .milliseconds(100))
            let abort = linger(l_onoff: 1, l_linger: 0)
            try? await (channel as? any SocketOptionProvider)?.setSoLinger(abort).get()
            try? await channel.close().get()
        case .close, nil: break
        }
        throw TransportError(.connectionLost, "this fault is simulated")
    }
}

extension TimeSource {
    /// Waits in short steps, so that a server that shuts down does not wait for the end of a fault.
    func waitUnlessShuttingDown(_ duration: Duration) async throws {
        let end = now + duration
        while now < end {
            guard !Task.isShuttingDownGracefully else { throw CancellationError() }
            try await sleep(for: min(end - now, .milliseconds(500)))
        }
    }
}
