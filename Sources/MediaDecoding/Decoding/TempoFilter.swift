import CFFmpeg
import MediaTiming
public import StreamingEngine

/// Plays sound faster or slower, and keeps its pitch where that is wanted, through filters of FFmpeg.
///
/// What comes out is shorter or longer by the rate; its times say which moment of the media each stretch belongs to. One
/// thread uses it at a time.
public final class TempoFilter {
    /// The slowest rate.
    public static let slowest = 1.0 / 32
    /// The fastest rate.
    public static let fastest = 100.0

    /// Seconds of media a second of sound.
    public let rate: Double
    /// What becomes of the pitch.
    public let pitch: SoundSettings.PitchAlgorithm

    private var graph: Graph?
    private var start = MediaTime.zero
    private var expected = MediaTime.zero
    private var produced: Int64 = 0

    /// Makes a filter.
    ///
    /// - Parameters:
    ///   - rate: Seconds of media a second; what lies outside of ``slowest`` to ``fastest`` counts as its nearest border,
    ///     and what is no number as 1.
    ///   - pitch: What becomes of the pitch; it is kept by default.
    public init(rate: Double, pitch: SoundSettings.PitchAlgorithm = .timeDomain) {
        self.pitch = pitch
        self.rate = rate.isFinite ? min(Self.fastest, max(Self.slowest, rate)) : 1
    }

    /// Takes sound; gives what is ready, which may be nothing.
    ///
    /// Where a hole or an overlap of more than 20 ms is met, or the format changes, the stretch before it is finished first.
    ///
    /// - Parameter samples: Sound in the order of its times.
    /// - Returns: Sound at the other speed; each stretch is ``AudioSamples/frameCount`` times ``rate`` of media long.
    /// - Throws: ``DecodingError`` where FFmpeg has no such filter.
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
            graph = try Graph(rate, pitch, sampleRate: samples.sampleRate, channelCount: samples.channelCount)
            start = samples.time
            expected = samples.time
            produced = 0
        }
        expected = expected + samples.duration
        guard let graph else { return list }
        try graph.send(samples)
        list += take(graph)
        return list
    }

    /// Gives what is left; the next sound begins a stretch of its own.
    ///
    /// - Returns: The last sound.
    /// - Throws: ``DecodingError`` where FFmpeg refuses.
    public func finish() throws(DecodingError) -> [AudioSamples] {
        guard let graph else { return [] }
        defer { self.graph = nil }
        try graph.send(nil)
        return take(graph)
    }

    /// Forgets what is left: at a seek.
    public func reset() { graph = nil }

    private func take(_ graph: Graph) -> [AudioSamples] {
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
    /// A chain of filters.
    @safe private final class Graph {
        let sampleRate: Int
        let channelCount: Int
        private var graph: UnsafeMutablePointer<AVFilterGraph>?
        private let source: UnsafeMutablePointer<AVFilterContext>
        private let sink: UnsafeMutablePointer<AVFilterContext>

        init(
            _ rate: Double,
            _ pitch: SoundSettings.PitchAlgorithm,
            sampleRate: Int,
            channelCount: Int
        ) throws(DecodingError) {
            _ = FFmpegLibrary.isQuiet
            guard let graph = unsafe avfilter_graph_alloc() else { throw .outOfMemory }
            var owned: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
            do throws(DecodingError) {
                // The layout's own order of channels does not matter: nothing is mixed.
                let source = try unsafe Self.add(
                    "abuffer",
                    "sample_rate=\(sampleRate):sample_fmt=flt:channel_layout=\(channelCount)c:time_base=1/\(sampleRate)",
                    to: unsafe graph
                )
                let sink = try unsafe Self.add("abuffersink", nil, to: graph)
                var last = unsafe source
                // Some filters give each channel apart: what comes out is as what goes in.
                let interleaving = (name: "aformat", arguments: "sample_fmts=flt")
                for (name, arguments) in Self.filters(for: rate, pitch, sampleRate: sampleRate) + [interleaving] {
                    let filter = try unsafe Self.add(name, arguments, to: graph)
                    try unsafe Self.link(last, filter)
                    unsafe last = unsafe filter
                }
                try unsafe Self.link(last, sink)
                let status = unsafe avfilter_graph_config(graph, nil)
                guard status >= 0 else { throw DecodingError(status, "changing the tempo") }
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
            _ pitch: SoundSettings.PitchAlgorithm,
            sampleRate: Int
        ) -> [(name: String, arguments: String)] {
            switch pitch {
            case .spectral where unsafe avfilter_get_by_name("rubberband") != nil:
                return [("rubberband", "tempo=\(rate):transients=crisp:pitchq=quality")]
            case .timeDomain, .spectral: return factors(of: rate).map { ("atempo", "tempo=\($0)") }
            case .varispeed:
                // The same samples at another pace, and then as many a second as before.
                let pace = max(1, Int(saturating: (Double(sampleRate) * rate).rounded()))
                return [("asetrate", "sample_rate=\(pace)"), ("aresample", "sample_rate=\(sampleRate)")]
            }
        }

        /// `atempo` goes from 0.5 to 100; above 2 it leaves sound out, so that two in a row sound better.
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
                throw DecodingError(.unsupported, "FFmpeg has no filter \(name)")
            }
            var context: UnsafeMutablePointer<AVFilterContext>?
            let status = unsafe avfilter_graph_create_filter(&context, filter, nil, arguments, nil, graph)
            guard status >= 0, let context = unsafe context else {
                throw DecodingError(status, "making the filter \(name)")
            }
            return unsafe context
        }

        private static func link(
            _ first: UnsafeMutablePointer<AVFilterContext>,
            _ second: UnsafeMutablePointer<AVFilterContext>
        ) throws(DecodingError) {
            let status = unsafe avfilter_link(first, 0, second, 0)
            guard status >= 0 else { throw DecodingError(status, "linking filters") }
        }

        /// Gives samples to the first filter; `nil` is the end.
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
                throw DecodingError(status, "changing the tempo")
            }
            unsafe samples.samples.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(data).copyMemory(from: base, byteCount: bytes.count)
            }
            status = unsafe av_buffersrc_add_frame(source, made)
            guard status >= 0 else { throw DecodingError(status, "changing the tempo") }
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
