import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import NIOCore
import NIOEmbedded
import Synchronization

/// The recorded body of a response.
final class RecordedBody: Sendable {
    private struct State {
        var chunks: [ByteBuffer] = []
        var isFinished = false
    }

    private let state = Mutex(State())

    /// The sizes of the chunks in which the body was written, in bytes.
    var chunkSizes: [Int] { state.withLock { $0.chunks.map(\.readableBytes) } }
    /// The bytes that were written.
    var bytes: [UInt8] { state.withLock { $0.chunks.flatMap { Array($0.readableBytesView) } } }
    /// The written bytes as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// A Boolean value that indicates whether the end of the body was written.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    fileprivate func append(_ buffer: ByteBuffer) { state.withLock { $0.chunks.append(buffer) } }
    fileprivate func finish() { state.withLock { $0.isFinished = true } }
}

private struct RecordingWriter: ResponseBodyWriter {
    let body: RecordedBody

    mutating func write(_ buffer: ByteBuffer) async throws { body.append(buffer) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { body.finish() }
}

extension ResponseBody {
    /// Writes the body to memory.
    func recorded() async throws -> RecordedBody {
        let body = RecordedBody()
        try await write(RecordingWriter(body: body))
        return body
    }

    /// Writes the body to memory, and returns the error that ended it, or `nil`.
    func recordedWithError() async -> (body: RecordedBody, error: (any Error)?) {
        let body = RecordedBody()
        do {
            try await write(RecordingWriter(body: body))
            return (body, nil)
        } catch {
            return (body, error)
        }
    }
}

/// A clock that advances only when a test advances it.
final class ManualTime: TimeSource {
    private let current = Mutex(Duration.zero)

    var now: Duration { current.withLock { $0 } }

    /// Advances the clock.
    func advance(by duration: Duration) { current.withLock { $0 += duration } }

    func sleep(for duration: Duration) async throws { advance(by: duration) }

    func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        ScheduledAction {}
    }
}

/// A log handler that records messages.
struct RecordingLogHandler: LogHandler {
    /// The messages so far, with their metadata.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        fileprivate func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.append((["\(event.level): \(event.message)"] + details).joined(separator: " "))
    }
}

extension Request {
    /// Creates a GET request without a body.
    static func get(_ target: String, fields: [(HTTPField.Name, String)] = []) -> Request {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: target)
        for (name, value) in fields { head.headerFields.append(HTTPField(name: name, value: value)) }
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }
}

extension BasicRequestContext {
    /// Creates a context outside a server.
    static func detached(logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) -> Self {
        BasicRequestContext(source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger))
    }
}
