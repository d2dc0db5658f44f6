package shelf;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class ShelfApplication {

	public static void main(String[] args) {
		SpringApplication.run(ShelfApplication.class, args);
	}

}
