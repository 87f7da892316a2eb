import FuzzTargets
import FuzzerDriver

/// A program that runs libFuzzer on the parsers without side effects.
@main enum Fuzzer {
    static func main() { FuzzerDriver.run(FuzzTarget.formats) }
}
