import FuzzTargets
import FuzzerDriver
import StreamFuzzTargets

/// Runs libFuzzer on the readers behind transports, storage, the server and the engine.
@main enum StreamFuzzer {
    static func main() { FuzzerDriver.run(FuzzTarget.streams) }
}
