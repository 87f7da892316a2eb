import FuzzTargets
import FuzzerDriver
import StreamFuzzTargets

/// A program that runs libFuzzer on the parsers that require transports, storage, the server or the engine.
@main enum StreamFuzzer {
    static func main() { FuzzerDriver.run(FuzzTarget.streams) }
}
