import CFFmpeg
import MediaTiming
public import StreamingEngine

/// A filter that changes the rate of audio, with or without preserving its pitch, through FFmpeg filters.
///
/// The duration of the output is that of the input divided by the rate; the times of the output are media times. Use it
/// from one thread at a time.
public final class TempoFilter {
    /// The minimum rate, in seconds of media per second of output.
    public static let minimumRate = 1.0 / 32
    /// The maximum rate, in seconds of media per second of output.
    public static let maximumRate = 100.0

    /// The number of seconds of media per second of output.
    public let rate: Double
    /// The algorithm that determines the pitch at rates other than 1.
    public let pitchAlgorithm: AudioSettings.PitchAlgorithm

    private var graph: Graph?
    private var start = MediaTime.zero
    private var expected = MediaTime.zero
    private var produced: Int64 = 0

    /// Creates a filter.
    ///
    /// - Parameters:
    ///   - rate: The number of seconds of media per second of output, clamped to the range from ``minimumRate`` to
    ///     ``maximumRate``. A rate that is not finite counts as 1.
    ///   - pitchAlgorithm: The pitch algorithm. The default preserves the pitch.
    public init(rate: Double, pitchAlgorithm: AudioSettings.PitchAlgorithm = .timeDomain) {
        self.pitchAlgorithm = pitchAlgorithm
        self.rate = rate.isFinite ? min(Self.maximumRate, max(Self.minimumRate, rate)) : 1
    }

    /// Appends audio and returns the output that is ready, which may be empty.
    ///
    /// If there is a gap or an overlap of more than 20 ms, or the format changes, the output before it is completed
    /// first.
    ///
    /// - Parameter samples: Audio in the order of its presentation times.
    /// - Returns: Audio at the changed rate. Each element covers its ``AudioSamples/duration`` times ``rate`` of media.
    /// - Throws: ``DecodingError`` if FFmpeg lacks a required filter or reports an error.
    public func process(_ samples: AudioSamples) throws(DecodingError) -> [AudioSamples] {
        guard samples.frameCount > 0, samples.sampleRate > 0 else { return [] }
        var list: [AudioSamples] = []
        if let graph {
            let difference = samples.time - expected
            let limit = MediaTime(value: 20, timescale: 1_000)
            let fits = graph.sampleRate == samples.sampleRate && graph.channelCount == samples.channelCount
            if !fits || difference > limit || difference < .zero - limit { list += try finish() }
        }
        if graph == nil {
            graph = try Graph(rate, pitchAlgorithm, sampleRate: samples.sampleRate, channelCount: samples.channelCount)
            start = samples.time
            expected = samples.time
            produced = 0
        }
        expected = expected + samples.duration
        guard let graph else { return list }
        try graph.send(samples)
        list += receiveAll(from: graph)
        return list
    }

    /// Returns the remaining output; the next samples start a new contiguous run.
    ///
    /// - Returns: The remaining output, which may be empty.
    /// - Throws: ``DecodingError`` if FFmpeg reports an error.
    public func finish() throws(DecodingError) -> [AudioSamples] {
        guard let graph else { return [] }
        defer { self.graph = nil }
        try graph.send(nil)
        return receiveAll(from: graph)
    }

    /// Discards buffered audio, as required after a seek.
    public func reset() { graph = nil }

    private func receiveAll(from graph: Graph) -> [AudioSamples] {
        var list: [AudioSamples] = []
        while let samples = graph.receive() {
            let offset = Double(produced) * rate / Double(graph.sampleRate)
            produced +|= Int64(samples.count / max(1, graph.channelCount))
            list.append(
                AudioSamples(
                    time: start + (MediaTime(approximating: offset) ?? .zero),
                    sampleRate: graph.sampleRate,
                    channelCount: graph.channelCount,
                    samples: samples
                )
            )
        }
        return list
    }
}

extension TempoFilter {
    /// An FFmpeg filter graph from a buffer source to a buffer sink.
    @safe private final class Graph {
        let sampleRate: Int
        let channelCount: Int
        private var graph: UnsafeMutablePointer<AVFilterGraph>?
        private let source: UnsafeMutablePointer<AVFilterContext>
        private let sink: UnsafeMutablePointer<AVFilterContext>

        init(
            _ rate: Double,
            _ pitch: AudioSettings.PitchAlgorithm,
            sampleRate: Int,
            channelCount: Int
        ) throws(DecodingError) {
            _ = FFmpegLibrary.isLoggingDisabled
            guard let graph = unsafe avfilter_graph_alloc() else { throw .outOfMemory }
            var owned: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
            do throws(DecodingError) {
                // The channel order of the layout is irrelevant because channels are not mixed.
                let source = try unsafe Self.add(
                    "abuffer",
                    "sample_rate=\(sampleRate):sample_fmt=flt:channel_layout=\(channelCount)c:time_base=1/\(sampleRate)",
                    to: unsafe graph
                )
                let sink = try unsafe Self.add("abuffersink", nil, to: graph)
                var last = unsafe source
                // Some filters output planar samples; the output must be interleaved like the input.
                let interleaving = (name: "aformat", arguments: "sample_fmts=flt")
                for (name, arguments) in Self.filters(for: rate, pitch, sampleRate: sampleRate) + [interleaving] {
                    let filter = try unsafe Self.add(name, arguments, to: graph)
                    try unsafe Self.link(last, filter)
                    unsafe last = unsafe filter
                }
                try unsafe Self.link(last, sink)
                let status = unsafe avfilter_graph_config(graph, nil)
                guard status >= 0 else {
                    throw DecodingError(status: status, operation: "configuring the tempo filter")
                }
                unsafe self.source = unsafe source
                unsafe self.sink = unsafe sink
            } catch {
                unsafe avfilter_graph_free(&owned)
                throw error
            }
            unsafe self.graph = unsafe graph
            self.sampleRate = sampleRate
            self.channelCount = channelCount
        }

        deinit { unsafe avfilter_graph_free(&graph) }

        private static func filters(
            for rate: Double,
            _ pitch: AudioSettings.PitchAlgorithm,
            sampleRate: Int
        ) -> [(name: String, arguments: String)] {
            switch pitch {
            case .spectral where unsafe avfilter_get_by_name("rubberband") != nil:
                return [("rubberband", "tempo=\(rate):transients=crisp:pitchq=quality")]
            case .timeDomain, .spectral: return factors(of: rate).map { ("atempo", "tempo=\($0)") }
            case .varispeed:
                // Declare another sample rate for the same samples, then resample to the original rate.
                let pace = max(1, Int(saturating: (Double(sampleRate) * rate).rounded()))
                return [("asetrate", "sample_rate=\(pace)"), ("aresample", "sample_rate=\(sampleRate)")]
            }
        }

        /// Returns the factors for a chain of `atempo` filters whose product is the rate.
        ///
        /// `atempo` accepts 0.5 to 100, but skips samples above 2; chained filters of at most 2 have a better quality.
        private static func factors(of rate: Double) -> [Double] {
            var factors: [Double] = []
            var rest = rate
            while rest < 0.5 {
                factors.append(0.5)
                rest /= 0.5
            }
            while rest > 2, factors.count < 6 {
                factors.append(2)
                rest /= 2
            }
            factors.append(rest)
            return factors
        }

        private static func add(
            _ name: String,
            _ arguments: String?,
            to graph: UnsafeMutablePointer<AVFilterGraph>
        ) throws(DecodingError) -> UnsafeMutablePointer<AVFilterContext> {
            guard let filter = unsafe avfilter_get_by_name(name) else {
                throw DecodingError(status: .unsupported, operation: "FFmpeg has no filter \(name)")
            }
            var context: UnsafeMutablePointer<AVFilterContext>?
            let status = unsafe avfilter_graph_create_filter(&context, filter, nil, arguments, nil, graph)
            guard status >= 0, let context = unsafe context else {
                throw DecodingError(status: status, operation: "creating the filter \(name)")
            }
            return unsafe context
        }

        private static func link(
            _ first: UnsafeMutablePointer<AVFilterContext>,
            _ second: UnsafeMutablePointer<AVFilterContext>
        ) throws(DecodingError) {
            let status = unsafe avfilter_link(first, 0, second, 0)
            guard status >= 0 else { throw DecodingError(status: status, operation: "linking filters") }
        }

        /// Sends samples to the buffer source; `nil` marks the end of the stream.
        func send(_ samples: AudioSamples?) throws(DecodingError) {
            guard let samples else {
                _ = unsafe av_buffersrc_add_frame(source, nil)
                return
            }
            var frame = unsafe av_frame_alloc()
            guard let made = unsafe frame else { throw .outOfMemory }
            defer { unsafe av_frame_free(&frame) }
            unsafe made.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
            unsafe made.pointee.sample_rate = Int32(clamping: sampleRate)
            unsafe made.pointee.nb_samples = Int32(clamping: samples.frameCount)
            unsafe av_channel_layout_default(&made.pointee.ch_layout, Int32(clamping: channelCount))
            var status = unsafe av_frame_get_buffer(made, 0)
            guard status >= 0, let data = unsafe made.pointee.data.0 else {
                throw DecodingError(status: status, operation: "configuring the tempo filter")
            }
            unsafe samples.samples.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(data).copyMemory(from: base, byteCount: bytes.count)
            }
            status = unsafe av_buffersrc_add_frame(source, made)
            guard status >= 0 else { throw DecodingError(status: status, operation: "configuring the tempo filter") }
        }

        func receive() -> [Float]? {
            var frame = unsafe av_frame_alloc()
            defer { unsafe av_frame_free(&frame) }
            guard let made = unsafe frame, unsafe av_buffersink_get_frame(sink, made) >= 0,
                let data = unsafe made.pointee.data.0
            else {
                return nil
            }
            let count = unsafe Int(made.pointee.nb_samples) * channelCount
            return unsafe data.withMemoryRebound(to: Float.self, capacity: count) { pointer in
                unsafe Array(UnsafeBufferPointer(start: pointer, count: count))
            }
        }
    }
}
