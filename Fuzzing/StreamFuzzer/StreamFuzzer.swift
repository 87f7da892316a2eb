import FuzzTargets
import FuzzerDriver
import StreamFuzzTargets

#if Playback
import DecodingFuzzTargets
#endif

/// A program that runs libFuzzer on the parsers that require transports, storage, the server, the engine or FFmpeg.
@main enum StreamFuzzer {
    static func main() { FuzzerDriver.run(targets) }

    /// The targets; without the trait `Playback`, the demultiplexers are missing.
    private static var targets: [FuzzTarget] {
        #if Playback
        return FuzzTarget.streams + FuzzTarget.decoding
        #else
        return FuzzTarget.streams
        #endif
    }
}
